package savedmodel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ringtrain/export/bundle"
)

// draftMark begins the names of draft folders. Only ringtrain uses it, so that files of
// other programs in the base are safe.
const draftMark = ".ringtrain-export"

// draftTries bounds the number of drafts that may be swept before they are locked.
const draftTries = 5

// draft is the folder of an unpublished export. Several jobs may share a base. A living
// writer holds a lock on its draft, so that sweep can distinguish a draft in use from a
// leftover. On a file system without folder locks, such as NFS, leftovers stay.
type draft struct {
	path string
	lock *os.File // nil if the file system has no folder locks
}

// newDraft makes a draft in the base. The caller must close it.
func (w writer) newDraft() (draft, error) {
	for range draftTries {
		d := draft{path: bundle.Temporary(filepath.Join(w.base, draftMark))}
		if err := w.fs.Mkdir(d.path); err != nil {
			return draft{}, err
		}
		lock, err := lockFolder(d.path)
		switch {
		case err == nil && d.exists(lock):
			d.lock = lock
			return d, nil
		case err == nil:
			lock.Close()
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist):
			return d, nil
		} // else another export swept it as a leftover
	}
	return draft{}, fmt.Errorf("create draft in %s: removed %d times by somebody else", w.base, draftTries)
}

// exists reports whether the folder still exists.
func (d draft) exists(lock *os.File) bool {
	there, err1 := os.Stat(d.path)
	locked, err2 := lock.Stat()
	return err1 == nil && err2 == nil && os.SameFile(there, locked)
}

// close releases the lock.
func (d draft) close() {
	if d.lock != nil {
		d.lock.Close()
	}
}

// lockFolder locks a folder until the file is closed. It does not block: the error is
// EWOULDBLOCK if another process holds the lock.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes the drafts of dead writers.
func (w writer) sweep() {
	entries, err := os.ReadDir(w.base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), draftMark+".tmp-") {
			continue
		}
		path := filepath.Join(w.base, e.Name())
		if lock, err := lockFolder(path); err == nil {
			w.fs.Discard(path) // nothing, if the draft was published meanwhile
			lock.Close()
		}
	}
}
