package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestKilledCache kills data cache by -9 while it makes the cache of a compressed file. It verifies
// that the next one removes what is left, and that data cache --prune removes the cache, alone of two,
// when its file is gone, from the job's folder and from that of input.cache auto.
func TestKilledCache(t *testing.T) {
	b := newBox(t)
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	for i := range 400_000 {
		fmt.Fprintf(w, "%d %d:1 %d:1\n", i%2, 1+i%1000, 2000+i%777)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b.write("a.libsvm.gz", text.String())
	b.write("b.libsvm", "1 1:1\n0 2:1\n")
	job := func(file string) []string {
		return []string{"job.yaml", "--set", "input.train.files=" + file, "--set", "input.cache=parsed"}
	}
	b.write("job.yaml", "model: {kind: sparse-linear, features: 3000}\ninput: {train: {format: libsvm}}\noptimizer: {learning_rate: 0.1}\n")
	left := func(pattern string) []string {
		found, err := filepath.Glob(b.path("parsed", pattern))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	make := append([]string{"data", "cache"}, job("a.libsvm.gz")...)
	for try := 0; len(left("text-*")) == 0; try++ {
		if try == 10 {
			t.Fatal("no killed process has left anything: nothing is shown")
		}
		if err := os.RemoveAll(b.path("parsed")); err != nil { // of a process that was faster than the kill
			t.Fatal(err)
		}
		p := b.start(make...)
		eventually(t, patience, "text is decompressed, or the cache made", func() bool { return len(left("text-*/*"))+len(left("*.rtcache")) > 0 })
		p.signal(syscall.SIGKILL)
		p.wait()
	}
	b.must(0, make...)
	b.must(0, append([]string{"data", "cache"}, job("b.libsvm")...)...)
	if l := slices.Concat(left("text-*"), left("*.tmp-*")); len(l) > 0 {
		t.Errorf("%q are left", l)
	}
	if err := os.Remove(b.path("a.libsvm.gz")); err != nil {
		t.Fatal(err)
	}
	e := b.must(0, append([]string{"data", "cache", "--prune"}, job("b.libsvm")...)...)
	if n := strings.Count(e.stdout, "\n"); n != 1 || !strings.Contains(e.stdout, "a.libsvm.gz is not there") || len(left("*.rtcache")) != 1 {
		t.Errorf("prune says %q and leaves %q", e.stdout, left("*"))
	}
	if e := b.must(0, "data", "cache", "--prune"); e.stdout != "" {
		t.Errorf("prune of another folder says %q", e.stdout)
	}
	b.must(64, "data", "cache", "--prune", "job.yaml", "more")
}
