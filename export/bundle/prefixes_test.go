package bundle

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

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
