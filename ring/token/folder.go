package token

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"ringtrain/ring/exitcode"
)

// Folder returns the runtime folder of this user on this host, and makes it if it is
// missing. Its name depends on the user id alone, so that all processes of a user agree:
// those of a login and those of cron, in any environment.
//
// It is the first of the two that Folder can make or that is this user's. A folder that
// others could read is exitcode.Auth, and one that cannot be made or written to is
// CannotCreate.
func Folder() (string, error) { return folderOf(os.Geteuid(), "/tmp", "/dev/shm") }

// folderOf is Folder for a user and the folders that the runtime folder may lie in, best
// first.
func folderOf(uid int, roots ...string) (string, error) {
	var unsafe, absent error // the first fault of each kind
	for _, root := range roots {
		own := filepath.Join(root, fmt.Sprintf("ringtrain-%d", uid))
		dir := filepath.Join(own, "ringtrain")
		err := makeFolder(own, uid)
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err == nil && unix.Access(dir, unix.W_OK) != nil {
			err = fmt.Errorf("%s is read-only", dir) // as its file system may be
		}
		switch {
		case err == nil:
			return dir, nil
		case exitcode.Of(err) == exitcode.Auth:
			unsafe = cmp.Or(unsafe, err)
		case absent == nil:
			absent = err
		default:
			absent = fmt.Errorf("%w; %w", absent, err)
		}
	}
	return "", cmp.Or(unsafe, exitcode.With(exitcode.CannotCreate, absent)) // the user can do something about an unsafe one
}

// makeFolder makes a folder, or checks the one that exists: only its user can read or
// write it. Another user may have made it first.
func makeFolder(dir string, uid int) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		err = fmt.Errorf("%s is a symbolic link, want a folder", dir)
	case !mode.IsDir():
		err = fmt.Errorf("%s is a file, want a folder", dir)
	case int(stat.Uid) != uid:
		err = fmt.Errorf("%s belongs to uid %d, want %d", dir, stat.Uid, uid)
	case mode.Perm()&0o077 != 0:
		err = fmt.Errorf("%s has mode %#o, want 0700: others could read the tokens of jobs", dir, mode.Perm())
	}
	return exitcode.With(exitcode.Auth, err)
}
