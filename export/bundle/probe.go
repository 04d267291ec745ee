package bundle

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// Temporary returns an unused name: path, ".tmp-" and eight random letters. Readers
// ignore such names. Any process may remove the file after its writer has ended.
func Temporary(path string) string {
	return path + ".tmp-" + strings.ToLower(rand.Text()[:8])
}

// Probe reports whether files can be written into dir, which need not exist yet. Probe
// makes a folder with a file in dir, or in its nearest existing parent, syncs and
// renames both, and removes them. An error has [exitcode.CannotCreate] and names dir and
// the reason. Probe leaves nothing behind if it can remove its files, and removes what
// killed probes left an hour ago or earlier.
func Probe(disk *Disk, dir string) error {
	at, err := folder.Nearest(dir)
	if err != nil {
		return err
	}
	if err := probe(disk, at); err != nil {
		return exitcode.With(exitcode.CannotCreate, fmt.Errorf("cannot write into %s: %w", dir, err))
	}
	return nil
}

// staleAfter is the age at which the folder of a probe counts as abandoned.
const staleAfter = time.Hour

// sweepProbes removes stale folders of probes.
func sweepProbes(disk *Disk, at string) {
	found, _ := os.ReadDir(at) // the probe reports an unreadable folder
	for _, f := range found {
		if !f.IsDir() || !strings.HasPrefix(f.Name(), probeName+".tmp-") {
			continue
		}
		if info, err := f.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			disk.Discard(filepath.Join(at, f.Name()))
		}
	}
}

// probeName is the beginning of the name of a probe's folder.
const probeName = ".probe"

func probe(disk *Disk, at string) error {
	sweepProbes(disk, at)
	tmp := Temporary(filepath.Join(at, probeName))
	file := filepath.Join(tmp, "file")
	renamed := tmp + "-renamed"
	defer disk.Discard(tmp, renamed)
	if err := disk.Mkdir(tmp); err != nil {
		return err
	}
	if err := WriteFile(disk, file, []byte("can this be written?\n")); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return disk.Rename(tmp, renamed) },
		func() error { return disk.SyncDir(at) },
		func() error { return disk.SyncDir(renamed) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
