package convert_test

import (
	"os"
	"path/filepath"
	"testing"
)

// shared returns a file of the shared folder, which lies at RINGTRAIN_SHARED or
// beside the repository, or skips t where there is no such folder.
func shared(t testing.TB, name string) string {
	t.Helper()
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
	return filepath.Join(dir, name)
}
