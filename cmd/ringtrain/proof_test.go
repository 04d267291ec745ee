package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProof verifies that docs/proof.md names existing tests.
func TestProof(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "proof.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tests []string
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(source), -1) {
			tests = append(tests, m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := "\n" + strings.Join(tests, "\n") + "\n"
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w*)(\\*?)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		want := "\n" + m[1]
		if m[2] == "" {
			want += "\n"
		}
		if !strings.Contains(all, want) {
			t.Errorf("there is no test %s%s", m[1], m[2])
		}
	}
	if len(named) < 40 {
		t.Errorf("%d tests are named, want 40 or more", len(named))
	}
}
