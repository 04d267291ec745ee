package joblist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"ringtrain/ring/exitcode"
)

// folders returns the runtime folders of this user on this host, best first. The first
// folder goes with the user's last session. A process of cron may know only the second one,
// so readers look into all.
func folders(getenv func(string) string) []string {
	var list []string
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if _, err := os.Stat(dir); err == nil { // the system makes it
			list = append(list, filepath.Join(dir, "ringtrain"))
		}
	}
	if dir, err := os.UserCacheDir(); err == nil {
		list = append(list, filepath.Join(dir, "ringtrain", "jobs"))
	}
	return append(list, filepath.Join(os.TempDir(), "ringtrain-"+strconv.Itoa(os.Geteuid())))
}

// makeFolder makes a runtime folder, or checks the one that exists.
func makeFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return exitcode.With(exitcode.CannotCreate, err)
	}
	return checkFolder(dir)
}

// checkFolder checks that only this user can read or write a runtime folder. In a folder
// for temporary files another user may have made it first.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, _ := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		err = fmt.Errorf("%s is a symbolic link, want a folder", dir)
	case !mode.IsDir():
		err = fmt.Errorf("%s is a file, want a folder", dir)
	case stat == nil || int(stat.Uid) != os.Geteuid():
		err = fmt.Errorf("%s belongs to another user", dir)
	case mode.Perm()&0o077 != 0:
		err = fmt.Errorf("%s has mode %#o, want 0700: others could read the tokens of jobs", dir, mode.Perm())
	}
	return exitcode.With(exitcode.Auth, err)
}
