package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ringtrain/ring/folder"
)

// Disk is an FS whose clean-up cannot fail an operation. A file or folder that it cannot remove stays,
// and Disk warns once for each path. It warns once if the file system cannot sync folders. One
// goroutine at a time may call the methods that warn.
type Disk struct {
	FS
	warn     func(error)
	stays    map[string]bool // paths that could not be removed
	unsynced bool            // the file system cannot sync folders
}

// NewDisk returns fs as a Disk that sends its warnings to warn.
func NewDisk(fs FS, warn func(error)) *Disk {
	return &Disk{FS: fs, warn: warn, stays: map[string]bool{}}
}

// Discard removes files and folders that are no longer needed.
func (d *Disk) Discard(paths ...string) {
	for _, path := range paths {
		d.Clean(path, func() error { return RemoveAll(d.FS, path) })
	}
}

// Clean calls do, a step in the removal of path, unless such a step has failed before. It reports
// whether do has succeeded. A path that is missing is no warning.
func (d *Disk) Clean(path string, do func() error) bool {
	if d.stays[path] {
		return false
	}
	err := do()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.stays[path] = true
		d.warn(fmt.Errorf("cannot remove %s, which stays: %w", path, err))
	}
	return err == nil
}

// SyncDir syncs a folder, if the file system can.
func (d *Disk) SyncDir(name string) error {
	err := d.FS.SyncDir(name)
	if !folder.CannotSync(err) {
		return err
	}
	if !d.unsynced {
		d.unsynced = true
		d.warn(fmt.Errorf("the file system of %s cannot sync folders, so a power failure may lose the newest files: %w", name, err))
	}
	return nil
}

// RemoveAll removes a file, or a folder with its content. A missing file is no error,
// nor is a concurrent removal by another process. A link is one, because links are the
// user's.
func RemoveAll(fsys FS, name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link, which ringtrain has not made", name)
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
