package input_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestExpand verifies the root and the order of the found files, and the error for
// missing ones.
func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x1", "a/x0", "b/x2", "b/y", "b/[z]*", "od[d]/only", "a/folder/in"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name            string
		roots, patterns string
		want            string
		err             string
		code            int
	}{
		{name: "glob", roots: "DIR/a DIR/b", patterns: "x*", want: "DIR/a/x0 DIR/a/x1"},
		{name: "second root", roots: "DIR/a DIR/b", patterns: "y x0", want: "DIR/b/y DIR/a/x0"},
		{name: "absolute", roots: "DIR/a", patterns: "DIR/b/?", want: "DIR/b/y"},
		{name: "name that reads like a pattern", roots: "DIR/b", patterns: "[z]*", want: "DIR/b/[z]*"},
		{name: "root that reads like a pattern", roots: "DIR/od[d]", patterns: "o*", want: "DIR/od[d]/only"},
		{name: "folder in a glob", roots: "DIR/a", patterns: "*", want: "DIR/a/x0 DIR/a/x1"},
		{name: "missing", roots: "DIR/a DIR/b", patterns: "x* q r*", err: "no input file q; looked for DIR/a/q, DIR/b/q\nno input file r*; looked for DIR/a/r*, DIR/b/r*", code: exitcode.NoInput},
		{name: "missing in one root", roots: "DIR/a", patterns: "q", err: "no input file q; looked for DIR/a/q", code: exitcode.NoInput},
		{name: "absolute and missing", roots: "DIR/a", patterns: "DIR/q", err: "no input file DIR/q", code: exitcode.NoInput},
		{name: "folder", roots: "DIR/c DIR/a", patterns: "folder", want: "DIR/a/folder/in"},
		{name: "folders of a pattern", roots: "DIR/a", patterns: "f*", err: "input DIR/a/f* matches folders alone, want DIR/a/f*/**", code: exitcode.NoInput},
		{name: "folders in between", roots: "DIR", patterns: "**/x*", want: "DIR/a/x0 DIR/a/x1 DIR/b/x2"},
		{name: "alternatives", roots: "DIR", patterns: "{a,b}/x[02]", want: "DIR/a/x0 DIR/b/x2"},
		{name: "malformed", roots: "DIR/a", patterns: "[x", err: "input pattern [x: syntax error in pattern", code: exitcode.Usage},
		{name: "below a file", roots: "DIR/a", patterns: "x0/y", err: "input file: stat DIR/a/x0/y: not a directory", code: exitcode.NoInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := func(s string) []string { return strings.Fields(strings.ReplaceAll(s, "DIR", dir)) }
			got, err := input.Expand(list(tt.roots), list(tt.patterns), nil)
			if !slices.Equal(got, list(tt.want)) {
				t.Errorf("files %q, want %q", got, list(tt.want))
			}
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), dir, "DIR")
			}
			if text != tt.err || exitcode.Of(err) != tt.code {
				t.Errorf("error %q (%d), want %q (%d)", text, exitcode.Of(err), tt.err, tt.code)
			}
		})
	}
}

// TestExpandWithoutRoots verifies that files are found in the working directory without
// roots.
func TestExpandWithoutRoots(t *testing.T) {
	got, err := input.Expand(nil, []string{"expand*.go"}, nil)
	if err != nil || !slices.Equal(got, []string{"expand.go", "expand_test.go"}) {
		t.Errorf("files %q, error %v", got, err)
	}
}

// TestExpandOnce verifies that a file of several names, patterns and folders is there once, at its first
// place, and that one notice says so; a link to it is another file.
func TestExpandOnce(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b.csv", "c.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a.csv", filepath.Join(dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, tt := range []struct{ patterns, want, notice string }{
		{"b.csv *.csv", "b.csv a.csv c.csv link.csv", "files that are named twice are read once: b.csv"},
		{"a.csv ./a.csv DIR/a.csv c.csv", "a.csv c.csv", "files that are named twice are read once: a.csv and 1 other"},
		{"DIR b*", "DIR/a.csv DIR/b.csv DIR/c.csv DIR/link.csv", "files that are named twice are read once: b.csv"},
		{"a.csv b.csv", "a.csv b.csv", ""},
	} {
		notice := ""
		got, err := input.Expand(nil, strings.Fields(strings.ReplaceAll(tt.patterns, "DIR", dir)), func(line string) { notice += line })
		if text := strings.ReplaceAll(strings.Join(got, " "), dir, "DIR"); err != nil || text != tt.want || notice != tt.notice {
			t.Errorf("%s: %s, notice %q, error %v, want %s, %q", tt.patterns, text, notice, err, tt.want, tt.notice)
		}
	}
}
