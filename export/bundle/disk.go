package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Disk is an FS on which clean-up decides nothing. What is no longer needed and cannot be removed is a
// warning, once a path, and stays. A file system that cannot sync folders is a warning, once. Several
// goroutines may call the methods if those of FS allow it.
type Disk struct {
	FS
	warn func(error) // may be nil

	mu       sync.Mutex
	stays    map[string]bool // paths that could not be removed
	unsynced bool            // the file system cannot sync folders
}

// NewDisk returns fs as a Disk that sends its warnings to warn, which may be nil.
func NewDisk(fs FS, warn func(error)) *Disk {
	return &Disk{FS: fs, warn: warn, stays: map[string]bool{}}
}

// DiskOf returns fs itself if it is a Disk, else a Disk whose warnings nobody receives.
func DiskOf(fs FS) *Disk {
	if d, ok := fs.(*Disk); ok {
		return d
	}
	return NewDisk(fs, nil)
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
	d.mu.Lock()
	stays := d.stays[path]
	d.mu.Unlock()
	if stays {
		return false
	}
	err := do()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.mu.Lock()
		d.stays[path] = true
		d.mu.Unlock()
		d.tell(fmt.Errorf("cannot remove %s, which stays: %w", path, err))
	}
	return err == nil
}

// SyncDir syncs a folder, if the file system can.
func (d *Disk) SyncDir(name string) error {
	err := d.FS.SyncDir(name)
	if !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) && !errors.Is(err, syscall.ENOSYS) {
		return err
	}
	d.mu.Lock()
	told := d.unsynced
	d.unsynced = true
	d.mu.Unlock()
	if !told {
		d.tell(fmt.Errorf("the file system of %s cannot sync folders, so a power failure may lose the newest files: %w", name, err))
	}
	return nil
}

func (d *Disk) tell(err error) {
	if d.warn != nil {
		d.warn(err)
	}
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
