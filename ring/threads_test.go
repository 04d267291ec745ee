package ring_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// TestThreads verifies that a group raises GOMAXPROCS to the threads that its links need, on the
// ring and between hosts, and leaves it alone if all data goes through memory. The packages of
// links test what each kind of link needs.
func TestThreads(t *testing.T) {
	tests := []struct {
		name  string
		hosts []int // host of each rank
		over  func(ring.Transport) ring.Transport
		want  int
	}{
		{"links in memory", []int{0, 1}, func(t ring.Transport) ring.Transport { return t }, 1},
		{"one host's memory", []int{0, 0}, func(t ring.Transport) ring.Transport { return t }, 1},
		{"links that wait in the kernel", []int{0, 1}, func(t ring.Transport) ring.Transport {
			t.Ring = threadLink{t.Ring}
			return t
		}, 5},
		{"such links across hosts", []int{0, 0, 1, 1}, func(t ring.Transport) ring.Transport {
			if t.Across != nil {
				t.Across.Ring = threadLink{t.Across.Ring}
			}
			return t
		}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			over := ringtest.HostTransports(tt.hosts)
			for i := range over {
				over[i] = tt.over(over[i])
			}
			ringtest.RunOnHostsOver(t, tt.hosts, over, ring.DefaultConfig(), func(g *ring.Group) error { return g.Barrier(t.Context()) })
			if got := runtime.GOMAXPROCS(0); got != tt.want {
				t.Errorf("GOMAXPROCS is %d, want %d", got, tt.want)
			}
		})
	}
}

// threadLink is a link that needs five threads.
type threadLink struct{ ring.Link }

func (threadLink) Facts() ring.LinkFacts { return ring.LinkFacts{Threads: 5} }

// TestCoresInOnePlace verifies that only package ring/cores asks the runtime for the number of
// cores. The runtime knows no quota, so workers, trainer and launcher would count differently.
func TestCoresInOnePlace(t *testing.T) {
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
