package bundle

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"ringtrain/ring/exitcode"
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

func (system) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

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

// MkdirAll makes dir and its missing parents, and syncs the parent of each new folder.
func MkdirAll(fsys FS, dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return err
	}
	if err := MkdirAll(fsys, parent); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(parent)
}

// RemoveAll removes a file, or a folder with its content. A missing file is no error,
// nor is a concurrent removal by another process.
func RemoveAll(fsys FS, name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		inside, err := os.ReadDir(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range inside {
			if err := RemoveAll(fsys, filepath.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := fsys.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
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
