package ring_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// TestReview16Threads verifies that a group has the threads that its links need, whoever makes it, also where GOMAXPROCS
// says one; and that a worker which is alone leaves GOMAXPROCS as it is.
func TestReview16Threads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, p := range []int{1, 2} {
		ringtest.RunOver(t, memlink.Ring(p), ring.DefaultConfig(), func(g *ring.Group) error { return g.Barrier(t.Context()) })
		if got, want := runtime.GOMAXPROCS(0), 1+2*(p-1); got < want || p == 1 && got != 1 {
			t.Errorf("world size %d: GOMAXPROCS is %d, want %d", p, got, want)
		}
	}
}

// TestReview16CoresInOnePlace fails if a package other than ring/cores asks the runtime for the number of cores: that knows
// no quota, and workers, trainer and launcher would count differently.
func TestReview16CoresInOnePlace(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}\n{{end}}", "ringtrain/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(string(out))
	if len(files) < 100 {
		t.Fatalf("%d files are listed, want all of the module", len(files))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "runtime.NumCPU(") && filepath.Base(filepath.Dir(name)) != "cores" {
			t.Errorf("%s asks for runtime.NumCPU, want package ring/cores", name)
		}
	}
}
