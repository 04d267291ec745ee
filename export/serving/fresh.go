package serving

import (
	"os"
	"slices"
	"sync"
)

// fresh is a value made of files, which is made anew when they change. If that is an error the old
// value stays.
type fresh[T any] struct {
	paths  []string
	read   func() (T, error)
	notice func(error) // receives each error of a value that is made anew

	mu     sync.Mutex
	value  T
	stamps []stamp // of the files at the last reading
}

// stamp tells the content of a file from what it was before.
type stamp struct {
	bytes    int64
	modified int64 // nanoseconds since 1970
}

// newFresh reads the files for the first time.
func newFresh[T any](paths []string, read func() (T, error), notice func(error)) (*fresh[T], error) {
	f := &fresh[T]{paths: paths, read: read, notice: notice, stamps: stampsOf(paths)}
	value, err := read()
	f.value = value
	return f, err
}

// get returns the value of the files as they are.
func (f *fresh[T]) get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := stampsOf(f.paths)
	if slices.Equal(now, f.stamps) {
		return f.value
	}
	f.stamps = now
	value, err := f.read()
	if err != nil {
		f.notice(err)
	} else {
		f.value = value
	}
	return f.value
}

// stampsOf returns the stamps of files. That of a file which is not there is zero.
func stampsOf(paths []string) []stamp {
	all := make([]stamp, len(paths))
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all[i] = stamp{info.Size(), info.ModTime().UnixNano()}
		}
	}
	return all
}
