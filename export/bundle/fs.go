package bundle

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// FS has the operations that change a disk so that a crash at any moment leaves the old
// or the new state. [OS] is the real file system. Tests wrap it to fail at a chosen
// call. Reading needs no FS.
type FS interface {
	// Create makes a new file. An existing file is an error.
	Create(name string) (File, error)

	// Mkdir makes one folder in a folder that exists.
	Mkdir(name string) error

	// Rename moves a file or a folder atomically. It replaces an existing file.
	Rename(from, to string) error

	// Remove removes a file or an empty folder.
	Remove(name string) error

	// SyncDir makes the folder's changes (created, renamed and removed names) survive a
	// power failure.
	SyncDir(name string) error
}

// File is a file being written. Its content survives a power failure after Sync and a
// sync of its folder.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// OS is the operating system's file system.
var OS FS = system{}

type system struct{}

func (system) Create(name string) (File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (system) Mkdir(name string) error { return os.Mkdir(name, 0o777) }

func (system) Rename(from, to string) error { return os.Rename(from, to) }

func (system) Remove(name string) error { return os.Remove(name) }

func (system) SyncDir(name string) error { return folder.Sync(name) }

// WriteFile creates a file with the given content and syncs the file. The caller syncs
// the folder.
func WriteFile(fsys FS, name string, data []byte) error {
	f, err := fsys.Create(name)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// MkdirAll makes dir and its missing parents, and syncs the parent of each new folder. It
// returns the folders that it has made, dir first, also after an error.
func MkdirAll(fsys FS, dir string) (made []string, err error) {
	at, err := folder.Nearest(dir)
	if err != nil || at == dir {
		return nil, err
	}
	parent := filepath.Dir(dir)
	if made, err = MkdirAll(fsys, parent); err != nil {
		return made, err
	}
	switch err := fsys.Mkdir(dir); {
	case err == nil:
		made = append([]string{dir}, made...)
	case !errors.Is(err, fs.ErrExist):
		return made, err
	}
	return made, fsys.SyncDir(parent)
}

// Fault adds an exit code to err, an error of an FS: CannotCreate if the location is
// wrong (no permission, read-only, not a folder), IO if the disk is full or broken.
func Fault(err error) error {
	for _, place := range []error{
		fs.ErrPermission, fs.ErrNotExist, fs.ErrExist,
		syscall.ENOTDIR, syscall.EISDIR, syscall.EROFS, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EINVAL,
	} {
		if errors.Is(err, place) {
			return exitcode.With(exitcode.CannotCreate, err)
		}
	}
	return exitcode.With(exitcode.IO, err)
}
