package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

// oddFS is the operating system's file system with errors for some calls.
type oddFS struct {
	bundle.FS
	remove, syncDir, sync error
	removals              int
}

func (f *oddFS) Remove(name string) error {
	f.removals++
	if f.remove != nil {
		return &os.PathError{Op: "remove", Path: name, Err: f.remove}
	}
	return f.FS.Remove(name)
}

func (f *oddFS) SyncDir(name string) error {
	if f.syncDir != nil {
		return &os.PathError{Op: "sync", Path: name, Err: f.syncDir}
	}
	return f.FS.SyncDir(name)
}

func (f *oddFS) Create(name string) (bundle.File, error) {
	file, err := f.FS.Create(name)
	return oddFile{file, f.sync}, err
}

type oddFile struct {
	bundle.File
	sync error
}

func (f oddFile) Sync() error {
	if f.sync != nil {
		return f.sync
	}
	return f.File.Sync()
}

// TestDiscard verifies that a path that cannot be removed is one warning that names the path and the
// reason, that the path is not tried again, and that a missing path is no warning.
func TestDiscard(t *testing.T) {
	for _, reason := range []error{syscall.EACCES, syscall.EBUSY, syscall.EROFS, syscall.EIO, syscall.ENOTEMPTY} {
		t.Run(reason.Error(), func(t *testing.T) {
			dir := t.TempDir()
			mine, theirs := filepath.Join(dir, "mine"), filepath.Join(dir, "theirs")
			for _, d := range []string{mine, theirs} {
				if err := os.MkdirAll(filepath.Join(d, "sub"), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			var told []string
			fs := &oddFS{FS: bundle.OS, remove: reason}
			d := bundle.NewDisk(fs, func(err error) { told = append(told, err.Error()) })
			for range 3 {
				d.Discard(theirs, filepath.Join(dir, "missing"))
			}
			if want := "cannot remove " + theirs + ", which stays: "; len(told) != 1 || !strings.HasPrefix(told[0], want) || !strings.HasSuffix(told[0], reason.Error()) {
				t.Errorf("warnings are %q, want one that begins with %q", told, want)
			}
			if fs.removals != 1 {
				t.Errorf("%d removals are tried, want 1", fs.removals)
			}
			fs.remove = nil
			d.Discard(mine)
			if _, err := os.Stat(mine); err == nil || len(told) != 1 {
				t.Errorf("a folder that can be removed: %v, %q", err, told)
			}
		})
	}
}

// TestLinksStay verifies that no link is removed, wherever it lies in what is removed, and that its
// target stays.
func TestLinksStay(t *testing.T) {
	for _, at := range []string{"x", "x/link", "x/deep/link"} {
		for _, to := range []string{"folder", "file", "gone"} {
			t.Run("link="+at+"/to="+to, func(t *testing.T) {
				t.Chdir(t.TempDir())
				target, err := filepath.Abs(to)
				if err != nil {
					t.Fatal(err)
				}
				if to == "folder" {
					err = os.MkdirAll(filepath.Join(target, "sub"), 0o777)
				} else if to == "file" {
					err = os.WriteFile(target, []byte("mine"), 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(target, at); err != nil {
					t.Fatal(err)
				}
				warnings := 0
				bundle.NewDisk(bundle.OS, func(error) { warnings++ }).Discard("x")
				if got, err := os.Readlink(at); got != target || warnings != 1 {
					t.Errorf("the link is %q (%v) after %d warnings, want %q after 1", got, err, warnings, target)
				}
				if _, err := os.Stat(target); to != "gone" && err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestCannotSync verifies that a file system that cannot sync folders is one warning, that other
// errors of a folder and all errors of a file are errors, and that a Probe does the same.
func TestCannotSync(t *testing.T) {
	for _, tt := range []struct {
		name          string
		syncDir, sync error
		warnings      int
		code          int
	}{
		{"nothing", nil, nil, 0, 0},
		{"folder, EINVAL", syscall.EINVAL, nil, 1, 0},
		{"folder, ENOTSUP", syscall.ENOTSUP, nil, 1, 0},
		{"folder, EIO", syscall.EIO, nil, 0, exitcode.CannotCreate},
		{"file, EINVAL", nil, syscall.EINVAL, 0, exitcode.CannotCreate},
	} {
		t.Run("fault="+tt.name, func(t *testing.T) {
			var told []string
			dir := t.TempDir()
			d := bundle.NewDisk(&oddFS{FS: bundle.OS, syncDir: tt.syncDir, sync: tt.sync}, func(err error) { told = append(told, err.Error()) })
			err := bundle.Probe(d, dir)
			for range 2 {
				if (d.SyncDir(dir) != nil) != (tt.syncDir == syscall.EIO) {
					t.Errorf("SyncDir differs from Probe: %v", err)
				}
			}
			if exitcode.Of(err) != tt.code || len(told) != tt.warnings || tt.warnings > 0 && !strings.Contains(told[0], dir+" cannot sync folders") {
				t.Errorf("error is %v, warnings are %q", err, told)
			}
		})
	}
}

// TestMkdirAll verifies which folders are made and returned, and that a link to nothing is an error
// and stays.
func TestMkdirAll(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Symlink("purged/models", "link"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ dir, made, err string }{
		{"a", "[a]", ""},
		{"a/b/c", "[a/b/c a/b]", ""},
		{"a/b/c", "[]", ""},
		{"link", "[]", "link is a link to purged/models, which is not there"},
		{"link/1", "[]", "cannot write into link/1: link is a link to purged/models, which is not there"},
	} {
		made, err := bundle.MkdirAll(bundle.OS, tt.dir)
		if fmt.Sprint(made) != tt.made || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s: made %v, %v; want %s, %s", tt.dir, made, err, tt.made, tt.err)
		}
	}
	if to, err := os.Readlink("link"); to != "purged/models" {
		t.Errorf("the link is %q, %v", to, err)
	}
}
