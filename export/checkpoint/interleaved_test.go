package checkpoint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

// pausedFS is a file system without syncs. It calls before before each call.
type pausedFS struct{ before func() }

func (f pausedFS) Create(name string) (bundle.File, error) {
	f.before()
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	return pausedFile{out, f}, nil
}

func (f pausedFS) Mkdir(name string) error {
	f.before()
	return os.Mkdir(name, 0o777)
}

func (f pausedFS) Rename(from, to string) error {
	f.before()
	return os.Rename(from, to)
}

func (f pausedFS) Remove(name string) error {
	f.before()
	return os.Remove(name)
}

func (f pausedFS) SyncDir(string) error { return nil }

type pausedFile struct {
	*os.File
	fs pausedFS
}

func (f pausedFile) Write(p []byte) (int, error) {
	f.fs.before()
	return f.File.Write(p)
}

func (f pausedFile) Sync() error { return nil }

// atCall returns a function that calls do at its n-th call.
func atCall(n int, do func()) func() {
	calls := 0
	return func() {
		if calls++; calls == n {
			do()
		}
	}
}

// TestInterleavedWriters suspends a writer A before each call of a Save, lets B take
// over the folder and save twice, and resumes A before each call of B. It verifies that
// B's last checkpoint is always the newest, that each checkpoint that B has reported
// loads, and that A removes nothing of B's.
func TestInterleavedWriters(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm") // thousands of files: spare the disk
	}
	stride := 2 // pairs every call with every second call of the other writer
	if testing.Short() {
		t.Log("long: every fifth call")
		stride = 5
	}
	for _, second := range []int64{20, 11} { // B saves A's step or an earlier one
		for n, frozen := 1, true; frozen; n++ {
			for m, woken := 1+n%stride, true; woken; m += stride {
				name := fmt.Sprintf("second=%d/frozen=%d/woken=%d", second, n, m)
				frozen, woken = interleave(t, name, second, n, m)
				if t.Failed() {
					return
				}
			}
		}
	}
}

// interleave reports whether A has at least n calls and B at least m.
func interleave(t *testing.T, name string, second int64, n, m int) (frozen, woken bool) {
	dir, err := os.MkdirTemp("", "ckpt")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	stands, goOn, ends := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	standStill := func() {}
	a := claim(t, pausedFS{func() { standStill() }}, dir)
	for _, step := range []int64{5, 10} {
		if _, err := a.Save(state(step), 2); err != nil {
			t.Fatal(err)
		}
	}
	standStill = atCall(n, func() {
		close(stands)
		<-goOn
	})
	go func() {
		_, err := a.Save(state(20), 2)
		ends <- err
	}()
	var errA error
	select {
	case errA = <-ends:
		return false, false // n is beyond its last call
	case <-stands:
	}
	wake := func() {
		woken = true
		close(goOn)
		errA = <-ends
	}
	b := claim(t, pausedFS{atCall(m, wake)}, dir)
	var paths []string
	for i := range int64(2) {
		saved, err := b.Save(others(second+i), 2)
		if err != nil {
			t.Fatalf("%s: B cannot save: %v", name, err)
		}
		paths = append(paths, saved.Path)
	}
	if !woken {
		wake()
		woken = false // m is beyond its last call
	}
	if errA != nil && exitcode.Of(errA) != exitcode.Retry {
		t.Errorf("%s: A ends with %v (%d), want none or %d", name, errA, exitcode.Of(errA), exitcode.Retry)
	}
	mustHold(t, name, dir, paths, second)
	if _, err := a.Save(state(30), 2); exitcode.Of(err) != exitcode.Retry {
		t.Errorf("%s: A saves again: %v, want code %d", name, err, exitcode.Retry)
	}
	mustHold(t, name, dir, paths, second)
	return true, woken
}

func claim(t *testing.T, fs bundle.FS, dir string) *Folder {
	t.Helper()
	f, err := Claim(context.Background(), quiet(fs), dir, "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// others returns a state of another process.
func others(step int64) State {
	s := state(step)
	s.Run.Seed = 77
	return s
}

// mustHold verifies that the checkpoints at paths, of a step and the next one, exist,
// and that the last is the newest for readers and for TensorFlow.
func mustHold(t *testing.T, name, dir string, paths []string, step int64) {
	t.Helper()
	for i, path := range paths {
		if s, err := Load(path); err != nil || s.Step != step+int64(i) || s.Run.Seed != 77 {
			t.Errorf("%s: %s has step %d of %d, error %v", name, path, s.Step, s.Run.Seed, err)
		}
	}
	if at, found, err := Latest(dir); !found || err != nil || at != paths[1] {
		t.Errorf("%s: the newest is %s (%v), want %s", name, at, err, paths[1])
	}
	named, err := readState(dir)
	if err != nil || named[0] != filepath.Base(paths[1]) {
		t.Errorf("%s: the state file names %v (%v), want %s first", name, named, err, filepath.Base(paths[1]))
	}
}
