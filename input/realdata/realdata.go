// Package realdata finds, for tests, the folder of real data sets and of files
// that TensorFlow wrote. It lies beside the repository, or where
// RINGTRAIN_SHARED says, and is no part of the project.
package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns a file or folder of the shared folder. A test that needs what
// is not there is skipped, except where CI is set: there it must not be.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{folder(t)}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("CI has no shared data: %v", err)
		}
		t.Skipf("no shared data: %v; set RINGTRAIN_SHARED to the folder that has it", err)
	}
	return path
}

// folder is RINGTRAIN_SHARED, relative to the root of the repository.
func folder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("RINGTRAIN_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "shared")
	}
	if filepath.IsAbs(dir) {
		return dir
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, dir)
		}
		if root == filepath.Dir(root) {
			t.Fatal("no go.mod above the test's folder")
		}
		root = filepath.Dir(root)
	}
}
