package cache

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entriesOf returns the names in a folder.
func entriesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// leave puts into the folder of c what a maker of c leaves that is killed: a folder of text, part of a
// cache and a lock.
func leave(t *testing.T, c Config) (left []string) {
	t.Helper()
	text, err := TextDir(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(text, "0"), c.Name() + ".tmp-0123456789abcdef", c.Name() + ".lock"} {
		if err := os.WriteFile(name, []byte("part"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return []string{text, c.Name() + ".tmp-0123456789abcdef"}
}

// exists reports whether a path is there, a link counted.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestKilledMaker verifies that the next maker of a cache removes what a killed one has left of that
// cache, and neither what belongs to another cache nor a link.
func TestKilledMaker(t *testing.T) {
	dir, files := t.TempDir(), sources(t)
	c, other := Config{Dir: dir, Files: files, Key: "k"}, Config{Dir: dir, Files: files, Key: "other"}
	mine, theirs := leave(t, c), leave(t, other)
	link := c.Name() + ".tmp-link"
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Fatal(err)
	}
	s, err := Once(t.Context(), c, func(line string) { t.Error(line) }, func() error { return Make(t.Context(), c, draw(0, 1), 1) })
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, path := range mine {
		if exists(path) {
			t.Errorf("%s is left", path)
		}
	}
	for _, path := range append(theirs, link) {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
}

// TestPrune verifies that Prune removes caches of which a file is gone, what killed makers have left and
// locks without a cache. It leaves caches whose files are there, have changed or cannot be looked
// at, caches that cannot be read, what a living maker holds, and other files.
func TestPrune(t *testing.T) {
	dir, files, gone := t.TempDir(), sources(t), sources(t)
	cacheOf := func(key string, of []string) Config {
		c := Config{Dir: dir, Files: of, Key: key}
		mustMake(t, c, draw(0, 1)).Close()
		return c
	}
	stays, first, second := cacheOf("stays", files), cacheOf("first", gone), cacheOf("second", []string{files[0], gone[1]})
	version := cacheOf("version", gone)
	content, err := os.ReadFile(version.Name())
	if err != nil {
		t.Fatal(err)
	}
	content[8]++
	living := cacheOf("living", gone)
	held, err := tryLock(living.Name())
	if err != nil || held == nil {
		t.Fatal(err)
	}
	defer held.Close()
	killed := Config{Dir: dir, Files: files, Key: "killed"}
	left := append(leave(t, killed), leave(t, first)...)
	own := leave(t, living)
	if err := errors.Join(os.WriteFile(version.Name(), content, 0o666), os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666),
		os.Mkdir(filepath.Join(dir, "text-mine"), 0o777), os.Remove(gone[0]), os.Remove(gone[1])); err != nil {
		t.Fatal(err)
	}
	var told []string
	if err := Prune(dir, func(line string) { told = append(told, line) }, func(line string) { t.Error(line) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(told)
	want := []string{first.Name() + " is removed: " + gone[0] + " is not there", second.Name() + " is removed: " + gone[1] + " is not there"}
	slices.Sort(want)
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	for _, path := range append(left, first.Name(), second.Name(), first.Name()+".lock", killed.Name()+".lock") {
		if exists(path) {
			t.Errorf("%s is left", path)
		}
	}
	for _, path := range append(own, stays.Name(), version.Name(), living.Name(), living.Name()+".lock", filepath.Join(dir, "notes.txt"), filepath.Join(dir, "text-mine")) {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
	before := entriesOf(t, dir)
	if err := Prune(dir, func(line string) { t.Error(line) }, func(line string) { t.Error(line) }); err != nil {
		t.Error(err)
	}
	if after := entriesOf(t, dir); !slices.Equal(after, before) {
		t.Errorf("a second time leaves %q, want %q", after, before)
	}
	if err := Prune(filepath.Join(dir, "missing"), nil, nil); err != nil {
		t.Errorf("a folder that is missing: %v", err)
	}
}

// TestDiscardTells verifies that what cannot be removed is told with its path.
func TestDiscardTells(t *testing.T) {
	var told []string
	Discard(strings.Repeat("n", 300), func(line string) { told = append(told, line) })
	Discard(filepath.Join(t.TempDir(), "missing"), func(line string) { t.Error(line) })
	if len(told) != 1 || !strings.HasPrefix(told[0], "warning: cannot remove nnn") {
		t.Errorf("told %q", told)
	}
}
