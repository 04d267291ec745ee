// Package folder finds and makes the folders of outputs, and says what is in the way of one.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ringtrain/ring/exitcode"
)

// maxLinks bounds a chain of links, as the kernel does.
const maxLinks = 40

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
	at := dir
	for {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return at, nil
		case err == nil:
			return "", blocked("%s is a file, want a folder", at)
		case isLink(at):
			return "", blockedBy(at, err)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP), parent(at) == at:
			return "", exitcode.With(exitcode.CannotCreate, err)
		}
		at = parent(at)
	}
}

// File returns where the file name is written: the end of its links, so that no link is replaced. A
// folder that is missing is no error yet.
func File(name string) (string, error) {
	if !isLink(name) {
		_, err := Nearest(parent(name))
		return name, err
	}
	to, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", blockedBy(name, err)
	}
	return to, nil
}

func blocked(form string, args ...any) error {
	return exitcode.With(exitcode.CannotCreate, fmt.Errorf(form, args...))
}

// blockedBy says why a link leads nowhere.
func blockedBy(link string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return blocked("%s is a link to %s, which is not there", link, target(link))
	case errors.Is(err, syscall.ELOOP), strings.Contains(err.Error(), "too many links"):
		return blocked("%s is a link in a loop of links", link)
	}
	return blocked("%s is a link to %s: %w", link, target(link), err)
}

func isLink(name string) bool {
	info, err := os.Lstat(strings.TrimRight(name, "/"))
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// target returns the end of a chain of links.
func target(link string) string {
	link = strings.TrimRight(link, "/")
	for range maxLinks {
		to, err := os.Readlink(link)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(link), to)
		}
		link = to
	}
	return link
}

// parent returns the path without its last name. Unlike filepath.Dir it keeps "..", behind which a
// link may lie.
func parent(path string) string {
	path = strings.TrimRight(path, "/")
	at := strings.LastIndexByte(path, '/')
	switch {
	case path == "":
		return "/"
	case at < 0:
		return "."
	}
	return path[:max(at, 1)]
}
