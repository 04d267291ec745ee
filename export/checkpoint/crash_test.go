package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/export/bundle"
	"ringtrain/export/bundle/faultfs"
	"ringtrain/ring/exitcode"
)

// scenario is a Save into a folder of earlier checkpoints.
type scenario struct {
	name   string
	before []State // saved without faults
	next   State   // saved with a fault
	keep   int
}

func scenarios() []scenario {
	finished := state(2)
	finished.Run.Finished = true
	return []scenario{
		{"save=first", nil, state(1), 2},
		{"save=next", []State{state(1), state(2)}, state(3), 3},
		{"save=next, keep=1", []State{state(1), state(2)}, state(3), 1},
		{"save=same step, other content", []State{state(1), state(2)}, finished, 2},
		{"save=same step, same content", []State{state(1), state(2)}, state(2), 2},
	}
}

// prepare returns the folder in its state before the fault.
func (s scenario) prepare(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "ckpt")
	for _, b := range s.before {
		save(t, dir, b, 0)
	}
	return dir
}

// copied returns a copy of a folder, which may not exist.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "ckpt")
	if _, err := os.Stat(dir); err != nil {
		return to
	}
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestFaults lets every call of Save fail in turn: once, as a crash, and as a power
// failure that reverts unsynced changes. It verifies that a reader finds the old or the
// new checkpoint, whole and without an error, and that the next Save repairs the folder.
func TestFaults(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err == nil {
		t.Setenv("TMPDIR", "/dev/shm") // thousands of files: spare the disk
	}
	for _, s := range scenarios() {
		before := s.prepare(t)
		dry := faultfs.New(faultfs.Once, 0, t.TempDir())
		if _, err := Save(dry, copied(t, before), s.next, s.keep); err != nil {
			t.Fatal(err)
		}
		if err := dry.Lose(); err != nil {
			t.Fatal(err)
		}
		if dry.Calls() < 10 {
			t.Errorf("%s: only %d calls can fail", s.name, dry.Calls())
		}
		for _, mode := range []faultfs.Mode{faultfs.Once, faultfs.Crash, faultfs.Power} {
			for n := 1; n <= dry.Calls(); n++ {
				t.Run(fmt.Sprintf("%s/mode=%v/call=%d", s.name, mode, n), func(t *testing.T) {
					s.fault(t, copied(t, before), mode, n)
				})
			}
		}
	}
}

func (s scenario) fault(t *testing.T, dir string, mode faultfs.Mode, n int) {
	fs := faultfs.New(mode, n, t.TempDir())
	_, err := Save(fs, dir, s.next, s.keep)
	if err := fs.Lose(); err != nil {
		t.Fatal(err)
	}
	if err != nil && exitcode.Of(err) != exitcode.IO {
		t.Errorf("Save: %v, exit code %d, want %d", err, exitcode.Of(err), exitcode.IO)
	}
	if err == nil && mode != faultfs.Once { // a single fault may hit a call whose error Save ignores
		t.Error("Save did not see the crash")
	}
	s.wantOldOrNew(t, dir, err == nil)

	after := state(50)
	save(t, dir, after, 1)
	wantLoad(t, dir, after)
	if got, want := names(t, dir), "checkpoint step-000050"; got != want {
		t.Errorf("after the next save the folder has %s, want %s", got, want)
	}
}

func (s scenario) wantOldOrNew(t *testing.T, dir string, mustBeNew bool) {
	t.Helper()
	path, found, err := Latest(dir)
	if err != nil {
		t.Fatalf("a reader gets an error: %v", err)
	}
	if !found {
		if len(s.before) > 0 || mustBeNew {
			t.Fatal("a reader finds no checkpoint")
		}
		return
	}
	got, err := Load(path)
	if err != nil {
		t.Fatalf("a reader gets an error: %v", err)
	}
	isNew := cmp.Equal(got, s.next)
	isOld := len(s.before) > 0 && cmp.Equal(got, s.before[len(s.before)-1])
	if !isNew && (!isOld || mustBeNew) {
		t.Errorf("a reader gets step %d of %s, which is neither the old nor the new state", got.Step, path)
	}
	// TensorFlow reads only the state file, which must never name a missing checkpoint,
	// except at the moment of a replacement.
	text, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err != nil {
		return
	}
	paths, err := parseState(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		at := filepath.Join(dir, p)
		if strings.Contains(s.name, "other content") && filepath.Base(path) == p+replacedSuffix {
			at += replacedSuffix
		}
		r, err := bundle.Open(filepath.Join(at, prefixName))
		if err != nil {
			t.Errorf("the state file names a checkpoint that cannot be read: %v", err)
			continue
		}
		r.Close()
	}
}
