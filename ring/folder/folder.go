// Package folder finds and makes the folders of outputs, and says what is in the way of one.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ringtrain/ring/exitcode"
)

// Make makes dir and its missing parents. Errors have exitcode.CannotCreate.
func Make(dir string) error {
	_, err := Nearest(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	return exitcode.With(exitcode.CannotCreate, err)
}

// Nearest returns dir, or its nearest parent that exists. If something else than a folder is in the
// way, such as a link to a folder that is gone, the error names it and has exitcode.CannotCreate.
func Nearest(dir string) (string, error) {
	scheme, rest, _ := strings.Cut(filepath.Clean(dir), ":/")
	if slices.Contains([]string{"s3", "gs", "https", "http", "hdfs"}, scheme) {
		return "", exitcode.With(exitcode.CannotCreate, fmt.Errorf("cannot write into %s://%s, want a folder of this host", scheme, rest))
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return at, nil
		case err == nil:
			err = fmt.Errorf("%s is a file, want a folder", at)
		case isLink(at):
			err = deadEnd(at, err)
		case at != filepath.Dir(at) && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)):
			continue
		}
		if at != filepath.Clean(dir) {
			err = fmt.Errorf("cannot write into %s: %w", dir, err)
		}
		return "", exitcode.With(exitcode.CannotCreate, err)
	}
}

// Open opens or makes a file whose name a program gives, in a folder that others may write to. A link in
// its place is an error, so that nobody has this process write elsewhere, and a FIFO is not waited for.
func Open(name string, flag int) (*os.File, error) {
	f, err := os.OpenFile(name, flag|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o666)
	if errors.Is(err, syscall.ELOOP) && isLink(name) {
		err = fmt.Errorf("%s is a link, want a file", name)
	}
	return f, exitcode.With(exitcode.CannotCreate, err)
}

// File returns where the file name is written: the end of its links, so that no link is replaced. A
// folder that is missing is no error yet.
func File(name string) (string, error) {
	if !isLink(name) {
		_, err := Nearest(filepath.Dir(name))
		return name, err
	}
	to, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", exitcode.With(exitcode.CannotCreate, deadEnd(name, err))
	}
	return to, nil
}

// Sync makes the changed names of a folder survive a power failure.
func Sync(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// CannotSync reports whether err, of Sync, means that the file system syncs no folders, as some of SMB
// and FUSE.
func CannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP)
}

// deadEnd says why a link leads nowhere.
func deadEnd(link string, err error) error {
	to, _ := os.Readlink(link)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is a link to %s, which is not there", link, to)
	}
	return fmt.Errorf("%s is a link to %s: %w", link, to, err)
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
