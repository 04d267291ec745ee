package fetch_test

import (
	"os"
	"path/filepath"
	"testing"

	"ringtrain/input/fetch"
)

// TestShared would fail if the sizes and sums of the catalog were not those of
// the real files.
func TestShared(t *testing.T) {
	dir := os.Getenv("RINGTRAIN_SHARED")
	if dir == "" {
		dir = "../shared"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir) // from this package to the root
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no shared data: %v; set RINGTRAIN_SHARED", err)
	}
	to := t.TempDir()
	for _, name := range fetch.Names() {
		if err := fetch.Fetch(t.Context(), name, filepath.Join(dir, "data"), to, nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "a8a", "int64-label", "a8a_test.libsvm.tfrecords")); err != nil {
		t.Error(err)
	}
}
