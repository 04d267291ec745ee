// Package hostlock has locks that one process of a host holds at a time. The system lets a lock go when its process ends,
// however that is.
package hostlock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// Lock is a lock that is held, and its file.
type Lock struct{ *os.File }

// Try takes the lock of a file, which it makes if it is not there. It returns nil if another process has the lock or has just
// removed the file.
func Try(name string) (*Lock, error) {
	if err := folder.Make(filepath.Dir(name)); err != nil {
		return nil, err
	}
	f, err := folder.Open(name, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, f.Close()
	}
	if err != nil {
		f.Close()
		return nil, exitcode.With(exitcode.IO, fmt.Errorf("lock %s: %w", f.Name(), err))
	}
	held, err := f.Stat()
	if there, failed := os.Stat(f.Name()); err != nil || failed != nil || !os.SameFile(held, there) {
		return nil, f.Close()
	}
	return &Lock{f}, nil
}

// Remove removes the file of the lock, and lets the lock go. The next process takes a file that cannot be removed.
func (l *Lock) Remove() {
	os.Remove(l.Name())
	l.Close()
}
