package serving

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// fresh is a value made of files, which is made anew when they change. If that is an error the old
// value stays.
type fresh[T any] struct {
	paths  []string
	read   func() (T, error)
	notice func(error) // receives each error of a value that is made anew

	now     atomic.Pointer[made[T]]
	reading sync.Mutex // held by the one who reads; others take the old value
}

// made is a value, and the fingerprint of the files that it was made of.
type made[T any] struct {
	value T
	files uint64
}

// newFresh reads the files for the first time.
func newFresh[T any](paths []string, read func() (T, error), notice func(error)) (*fresh[T], error) {
	f := &fresh[T]{paths: paths, read: read, notice: notice}
	files := fingerprint(paths...)
	value, err := read()
	f.now.Store(&made[T]{value, files})
	return f, err
}

// get returns the value of the files as they are.
func (f *fresh[T]) get() T {
	files, old := fingerprint(f.paths...), f.now.Load()
	if files == old.files || !f.reading.TryLock() {
		return old.value
	}
	defer f.reading.Unlock()
	value, err := f.read()
	if err != nil {
		f.notice(err)
		value = old.value
	}
	f.now.Store(&made[T]{value, files})
	return value
}

// fingerprint returns a sum of the names, sizes and times of files and of those in folders. It changes when a
// file does. A fault of reading is part of the sum.
func fingerprint(paths ...string) uint64 {
	sum := fnv.New64a()
	for _, path := range paths {
		filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
			info, statErr := os.Stat(name)
			if statErr == nil {
				fmt.Fprintln(sum, info.Size(), info.ModTime().UnixNano(), info.Mode())
			}
			fmt.Fprintln(sum, name, err, statErr)
			return nil
		})
	}
	return sum.Sum64()
}
