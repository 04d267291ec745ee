package savedmodel

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ringtrain/export/bundle"
)

// TestPrune verifies which folders of a base stay: the newest versions by number, links, and what is no version.
func TestPrune(t *testing.T) {
	for _, tt := range []struct {
		keep int
		want string
	}{
		{1, "[1 10 7 model 8]"},
		{2, "[1 10 7 9 model 8]"},
		{9, "[1 10 2 7 9 model 8]"},
	} {
		base := t.TempDir()
		for _, name := range []string{"9", "10", "2", "model 8"} {
			if err := os.MkdirAll(filepath.Join(base, name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(base, name, modelFile), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(base, "7"), 0o777); err != nil { // without a model
			t.Fatal(err)
		}
		if err := os.Symlink("10", filepath.Join(base, "1")); err != nil {
			t.Fatal(err)
		}
		Prune(bundle.NewDisk(bundle.OS, func(err error) { t.Error(err) }), base, tt.keep)
		entries, err := os.ReadDir(base)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, e := range entries {
			left = append(left, e.Name())
		}
		slices.Sort(left)
		if got := fmt.Sprint(left); got != tt.want {
			t.Errorf("keep=%d: left are %s, want %s", tt.keep, got, tt.want)
		}
	}
}
