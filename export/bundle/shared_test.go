package bundle

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixtures returns the folder of files that TensorFlow wrote, and skips t where
// it is not on this machine.
func fixtures(t *testing.T) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			t.Fatal("no go.mod above this folder")
		}
		root = filepath.Dir(root)
	}
	shared := os.Getenv("RINGTRAIN_SHARED")
	if shared == "" {
		shared = "../shared"
	}
	if !filepath.IsAbs(shared) {
		shared = filepath.Join(root, shared)
	}
	dir := filepath.Join(shared, "fixtures")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no TensorFlow fixtures: %v", err)
	}
	return dir
}

// bundlesIn returns the prefixes of all bundles below a folder.
func bundlesIn(t *testing.T, dir string) []string {
	t.Helper()
	var prefixes []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if prefix, ok := strings.CutSuffix(path, ".index"); ok {
			prefixes = append(prefixes, prefix)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return prefixes
}
