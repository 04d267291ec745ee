package bundle

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

// Temporary returns an unused name: path, ".tmp-" and eight random letters. Readers
// ignore such names. Any process may remove the file after its writer has ended.
func Temporary(path string) string {
	return path + ".tmp-" + strings.ToLower(rand.Text()[:8])
}

// Probe reports whether files can be written into dir, which need not exist yet. Probe
// makes a folder with a file in dir, or in its nearest existing parent, syncs and
// renames both, and removes them. An error has [exitcode.CannotCreate] and names dir and
// the reason. Probe leaves nothing behind, and removes what killed probes left an hour
// ago or earlier.
func Probe(fsys FS, dir string) error {
	at, err := nearest(dir)
	if err == nil {
		err = probe(fsys, at)
	}
	if err != nil {
		return exitcode.With(exitcode.CannotCreate, fmt.Errorf("cannot write into %s: %w", dir, err))
	}
	return nil
}

// nearest returns dir or its nearest existing parent.
func nearest(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return dir, nil
		case err == nil:
			return "", &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

// staleAfter is the age at which the folder of a probe counts as abandoned.
const staleAfter = time.Hour

// sweepProbes removes stale folders of probes. It ignores folders that cannot be
// removed.
func sweepProbes(fsys FS, at string) {
	found, _ := os.ReadDir(at) // the probe reports an unreadable folder
	for _, f := range found {
		if !f.IsDir() || !strings.HasPrefix(f.Name(), probeName+".tmp-") {
			continue
		}
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			RemoveAll(fsys, filepath.Join(at, f.Name()))
		}
	}
}

// probeName is the beginning of the name of a probe's folder.
const probeName = ".probe"

func probe(fsys FS, at string) (err error) {
	sweepProbes(fsys, at)
	folder := Temporary(filepath.Join(at, probeName))
	file := filepath.Join(folder, "file")
	renamed := folder + "-renamed"
	defer func() {
		err = errors.Join(err, RemoveAll(fsys, folder), RemoveAll(fsys, renamed))
	}()
	if err := fsys.Mkdir(folder); err != nil {
		return err
	}
	if err := WriteFile(fsys, file, []byte("can this be written?\n")); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return fsys.SyncDir(folder) },
		func() error { return fsys.Rename(folder, renamed) },
		func() error { return fsys.SyncDir(at) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
