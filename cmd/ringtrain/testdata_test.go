package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDataDownloadable verifies that tests read only downloadable data sets from the
// folder beside the repository: files written by TensorFlow belong to the repository.
func TestDataDownloadable(t *testing.T) {
	wanted := regexp.MustCompile(`realdata\.Path\(t, ?"([^)]*)"\)`)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range wanted.FindAllStringSubmatch(string(text), -1) {
			if elem := strings.Join(strings.Split(m[1], `", "`), "/"); !strings.HasPrefix(elem, "data/mnist") && elem != "data" {
				t.Errorf("%s reads %s of the shared folder", path, elem)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
