package idx_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/idx"
	"ringtrain/ring/exitcode"
)

// openBelow returns the number of open files of this process in a folder.
func openBelow(t *testing.T, dir string) int {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(links) == 0 {
		t.Fatalf("no open files: %v", err)
	}
	n := 0
	for _, l := range links {
		if name, err := os.Readlink(l); err == nil && strings.HasPrefix(name, dir) {
			n++
		}
	}
	return n
}

// TestOpenCloses verifies that a failed Open closes all files.
func TestOpenCloses(t *testing.T) {
	images, labels := make2x3(t, 5, "")
	dir := filepath.Dir(images)
	later := idx.Config{Labels: input.Labels{Classes: 10}, Later: true}
	d, err := idx.Open(t.Context(), images, labels, later)
	if err != nil {
		t.Fatal(err)
	}
	if openBelow(t, dir) == 0 {
		t.Error("pixels are left for later, and no file is open")
	}
	if err := d.Close(); err != nil || openBelow(t, dir) != 0 {
		t.Errorf("%d files are open after Close, error %v", openBelow(t, dir), err)
	}
	for _, second := range []string{filepath.Join(dir, "missing"), images} { // images are no labels
		d, err := idx.Open(t.Context(), images, second, later)
		if err == nil || exitcode.Of(err) == exitcode.Failed || d != nil {
			t.Errorf("labels %s: %v with code %d, want a fault of the input", second, err, exitcode.Of(err))
		}
		if n := openBelow(t, dir); n != 0 {
			t.Errorf("labels %s: %d files are open after an Open that failed", second, n)
		}
	}
}
