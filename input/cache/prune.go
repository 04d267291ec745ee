package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

const (
	extension  = ".rtcache"
	textPrefix = "text-"
)

// TextDir makes a folder for decompressed text, which the maker of the cache c discards.
func TextDir(c Config) (string, error) {
	return os.MkdirTemp(c.Dir, textPrefix+filepath.Base(c.Name())+"-")
}

// Discard removes what is no longer needed. What cannot be removed stays, and is told.
func Discard(path string, notice func(string)) {
	if err := os.RemoveAll(path); err != nil {
		notice(fmt.Sprintf("warning: cannot remove %s, which stays: %v", path, err))
	}
}

// sweep removes what killed makers of a cache have left. The caller holds the cache's lock.
func sweep(name string, notice func(string)) {
	entries, _ := os.ReadDir(filepath.Dir(name)) // making the cache reports an unreadable folder
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 &&
			(strings.HasPrefix(e.Name(), filepath.Base(name)+".tmp-") || strings.HasPrefix(e.Name(), textPrefix+filepath.Base(name)+"-")) {
			Discard(filepath.Join(filepath.Dir(name), e.Name()), notice)
		}
	}
}

// Prune removes the caches of a folder of which a file is gone, what killed makers have left, and locks
// without a cache. It passes over caches that a process is making. told receives a line for each cache
// that is removed, notice what cannot be removed.
func Prune(dir string, told, notice func(string)) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return exitcode.With(exitcode.IO, fmt.Errorf("input.cache: %w", err))
	}
	names := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name = strings.TrimPrefix(name, textPrefix)
		}
		if end := strings.LastIndex(name, extension); end > 0 {
			names[filepath.Join(dir, name[:end]+extension)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		l, err := tryLock(name)
		if err != nil {
			return err
		}
		if l == nil {
			continue
		}
		sweep(name, notice)
		if file := goneFile(name); file != "" {
			Discard(name, notice)
			told(fmt.Sprintf("%s is removed: %s is not there", name, file))
		}
		if _, err := os.Lstat(name); err != nil {
			Discard(l.Name(), notice)
		}
		l.Close()
	}
	return nil
}

// goneFile returns the first file of a cache that is gone, "" if all are there or if the cache cannot be
// read.
func goneFile(name string) string {
	file, err := openFile(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	s := &Set{file: file}
	if info, err := file.Stat(); err != nil || s.readMeta(info.Size()) != nil {
		return ""
	}
	for _, source := range s.meta.Sources {
		if _, err := os.Stat(source.Path); os.IsNotExist(err) {
			return source.Path
		}
	}
	return ""
}
