// Package realdata finds, for tests, the folder of real data sets that are too large
// for the repository, MNIST above all. It lies beside the repository, or where
// RINGTRAIN_SHARED says, and is no part of the project.
package realdata

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// Path returns a file or folder of the shared folder. A test that needs what
// is not there is skipped; .ci/skips lists these tests.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{folder(t)}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data sets: %v; set RINGTRAIN_SHARED to the folder that has it", err)
	}
	return path
}

// Inflated returns what is in a gzip file, of testdata or of the shared folder.
func Inflated(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
