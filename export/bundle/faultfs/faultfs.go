// Package faultfs is a file system that fails at a call chosen by the test.
//
// An [FS] passes every call to the operating system until call number n. From there on
// it does what its [Mode] says. First count the calls of a run without a fault. Then run
// once for every n, so that the test sees a fault at each possible place.
//
// After a run with [Power], [FS.Lose] reverts everything that was not synced, like a
// power failure at the worst moment. Unsynced files become empty. Names that were
// created, changed or removed in an unsynced folder become as they were before.
package faultfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ringtrain/export/bundle"
)

// Mode is the behaviour from the chosen call on.
type Mode int

// The modes.
const (
	Once  Mode = iota // that call fails, later ones work
	Crash             // that call and all later ones fail
	Power             // as Crash, and Lose reverts unsynced changes
)

func (m Mode) String() string { return [...]string{"once", "crash", "power"}[m] }

// FS implements bundle.FS for one goroutine.
type FS struct {
	mode    Mode
	at      int
	err     error
	stash   string // keeps removed entries until their folder is synced
	calls   int
	pending []change
	files   []*file
}

// change is an unsynced change of a folder.
type change struct {
	dir  string // the folder to sync
	undo func(c change) error
	a, b string // for undo: the current path, and the path to restore
}

// New returns an FS whose call number at, counted from 1, fails with a full disk. With 0
// no call fails. The FS uses the folder stash, which must be on the same disk.
func New(mode Mode, at int, stash string) *FS {
	return &FS{mode: mode, at: at, err: syscall.ENOSPC, stash: stash}
}

// Calls returns the number of calls so far.
func (f *FS) Calls() int { return f.calls }

func (f *FS) call(op, name string) error {
	f.calls++
	if f.at == 0 || f.calls < f.at || f.mode == Once && f.calls > f.at {
		return nil
	}
	return &os.PathError{Op: op, Path: name, Err: f.err}
}

func (f *FS) changed(name string, undo func(c change) error, a, b string) {
	f.pending = append(f.pending, change{filepath.Dir(name), undo, a, b})
}

func (f *FS) hidden() string {
	return filepath.Join(f.stash, fmt.Sprintf("stash-%d", f.calls))
}

// Create implements bundle.FS.
func (f *FS) Create(name string) (bundle.File, error) {
	if err := f.call("create", name); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	f.changed(name, func(c change) error { return os.Remove(c.a) }, name, "")
	f.files = append(f.files, &file{fs: f, File: out})
	return f.files[len(f.files)-1], nil
}

// Mkdir implements bundle.FS.
func (f *FS) Mkdir(name string) error {
	if err := f.call("mkdir", name); err != nil {
		return err
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		return err
	}
	f.changed(name, func(c change) error { return os.RemoveAll(c.a) }, name, "")
	return nil
}

// Rename implements bundle.FS.
func (f *FS) Rename(from, to string) error {
	if err := f.call("rename", from); err != nil {
		return err
	}
	replaced := ""
	if info, err := os.Lstat(to); err == nil && !info.IsDir() {
		replaced = f.hidden()
		if err := os.Link(to, replaced); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	f.follow(from, to)
	f.changed(to, func(c change) error {
		f.follow(c.a, c.b)
		if err := os.Rename(c.a, c.b); err != nil || replaced == "" {
			return err
		}
		return os.Rename(replaced, c.a)
	}, to, from)
	return nil
}

// follow updates the paths of earlier changes after a rename. The path that undo
// restores, b, changes with its folder only.
func (f *FS) follow(from, to string) {
	for i := range f.pending {
		c := &f.pending[i]
		c.dir, c.a = moved(c.dir, from, to), moved(c.a, from, to)
		c.b = filepath.Join(moved(filepath.Dir(c.b), from, to), filepath.Base(c.b))
	}
}

// moved returns path after a rename of from to to.
func moved(path, from, to string) string {
	if path == from {
		return to
	}
	if rest, ok := strings.CutPrefix(path, from+"/"); ok {
		return to + "/" + rest
	}
	return path
}

// Remove implements bundle.FS.
func (f *FS) Remove(name string) error {
	if err := f.call("remove", name); err != nil {
		return err
	}
	if inside, err := os.ReadDir(name); err == nil && len(inside) > 0 {
		return &os.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	hidden := f.hidden()
	if err := os.Rename(name, hidden); err != nil {
		return err
	}
	f.changed(name, func(c change) error { return os.Rename(hidden, c.a) }, name, "")
	return nil
}

// SyncDir implements bundle.FS.
func (f *FS) SyncDir(name string) error {
	if err := f.call("sync", name); err != nil {
		return err
	}
	var gone []string // removed folders: their content is lost for good
	for _, c := range f.pending {
		if _, err := os.Lstat(c.a); c.dir == name && err != nil {
			gone = append(gone, c.a)
		}
	}
	f.pending = slices.DeleteFunc(f.pending, func(c change) bool { return c.dir == name || slices.Contains(gone, c.dir) })
	return nil
}

// Lose reverts unsynced changes if the mode is Power, and closes all files. The FS must
// not be used afterwards.
func (f *FS) Lose() error {
	for _, open := range f.files {
		if f.mode == Power && !open.synced {
			if err := open.Truncate(0); err != nil {
				return err
			}
		}
		if err := open.File.Close(); err != nil {
			return err
		}
	}
	if f.mode != Power {
		return nil
	}
	for len(f.pending) > 0 {
		last := f.pending[len(f.pending)-1]
		f.pending = f.pending[:len(f.pending)-1]
		if err := last.undo(last); err != nil {
			return err
		}
	}
	return nil
}

// file stays open until Lose, which may have to truncate it under any name.
type file struct {
	*os.File
	fs     *FS
	synced bool
}

func (f *file) Write(p []byte) (int, error) {
	if err := f.fs.call("write", f.Name()); err != nil {
		n, _ := f.File.Write(p[:len(p)/2]) // a full disk writes a part
		return n, err
	}
	f.synced = false
	return f.File.Write(p)
}

func (f *file) Sync() error {
	if err := f.fs.call("sync", f.Name()); err != nil {
		return err
	}
	f.synced = true
	return nil
}

func (f *file) Close() error { return f.fs.call("close", f.Name()) }
