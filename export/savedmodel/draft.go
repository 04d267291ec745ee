package savedmodel

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ringtrain/export/bundle"
)

// draftMark begins the names of the folders in which exports are written. It is
// ringtrain's own: what other programs leave in the base is theirs.
const draftMark = ".ringtrain-export"

// draftTries bounds how often a new draft may be swept before it is locked.
const draftTries = 5

// draft is the folder of an export that does not count yet. Several jobs may share a
// base: whoever writes a draft has it locked for as long as it lives, and so what a
// killed one has left is told from another's work. A file system that cannot lock
// folders, as NFS, keeps leftovers.
type draft struct {
	path string
	lock *os.File // nil where there are no locks
}

// newDraft makes a draft in the base. It must be closed.
func (w writer) newDraft() (draft, error) {
	for range draftTries {
		d := draft{path: bundle.Temporary(filepath.Join(w.base, draftMark))}
		if err := w.fs.Mkdir(d.path); err != nil {
			return draft{}, err
		}
		lock, err := lockFolder(d.path)
		switch {
		case err == nil && d.is(lock):
			d.lock = lock
			return d, nil
		case err == nil:
			lock.Close()
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist):
			return d, nil
		} // else another export took it for a leftover
	}
	return draft{}, errors.New("each new folder is removed at once")
}

// is reports whether the folder is still there.
func (d draft) is(lock *os.File) bool {
	there, err1 := os.Stat(d.path)
	locked, err2 := lock.Stat()
	return err1 == nil && err2 == nil && os.SameFile(there, locked)
}

// close lets go of the lock.
func (d draft) close() {
	if d.lock != nil {
		d.lock.Close()
	}
}

// lockFolder locks a folder until the file is closed. It never waits: the error is
// EWOULDBLOCK where another has it.
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

// sweep removes the drafts whose writers are gone. What cannot be removed, as another
// user's, stays: it does no harm.
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
			_ = bundle.RemoveAll(w.fs, path) // it is not there if it was published meanwhile
			lock.Close()
		}
	}
}
