package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

// stuckFS is a disk on which some entries of a folder cannot be removed: their removal, that of their
// content or both it and their renaming fail, as with another user's. It logs the calls that fail.
type stuckFS struct {
	bundle.FS
	stuck    string // part of the names
	renaming bool   // fails too
	failed   []string
}

func (f *stuckFS) fault(op, name string) error {
	if f.stuck == "" || !strings.Contains(name, f.stuck) {
		return nil
	}
	f.failed = append(f.failed, op+" "+name)
	return &os.PathError{Op: op, Path: name, Err: syscall.EACCES}
}

func (f *stuckFS) Remove(name string) error {
	if err := f.fault("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *stuckFS) Rename(from, to string) error {
	if f.renaming && filepath.Base(to) != stateFile && !isStep(filepath.Base(to)) {
		if err := f.fault("rename", from); err != nil {
			return err
		}
	}
	return f.FS.Rename(from, to)
}

func (f *stuckFS) SyncDir(string) error { return nil }

// TestCleanUpDecidesNothing has entries of each kind that cannot be removed in a folder: checkpoints
// beyond keep and of the saved step, temporaries of dead writers, leases. It verifies that a process
// claims the folder and saves all the same, with one warning for each entry that names it, that no
// save tries an entry again, and that readers find the newest state.
func TestCleanUpDecidesNothing(t *testing.T) {
	for _, tt := range []struct {
		name, stuck string
		want        []string // names in the warnings, in order
	}{
		{"step=old", "step-000001", []string{"step-000001"}},
		{"step=all", "step-00000", []string{"step-000007.tmp-", "step-000002", "step-000001", "step-000009"}},
		{"step=content alone", "model.ckpt.index", []string{"step-000007.tmp-", "step-000002", "step-000001", "step-000009", "step-000010", "step-000010.1", "step-000011"}},
		{"step=saved again", "step-000010", []string{"step-000010", "step-000010.1"}},
		{"left=step", "step-000007.tmp-", []string{"step-000007.tmp-"}},
		{"left=state file", "checkpoint.tmp-", []string{"checkpoint.tmp-"}},
		{"lease", "lease-000001", []string{"lease-000001"}},
	} {
		for _, renaming := range []bool{false, true} {
			if renaming && tt.stuck == "model.ckpt.index" {
				continue // the step folders themselves can be renamed
			}
			t.Run(tt.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "ckpt")
				for step := range int64(2) {
					save(t, dir, state(step+1), 0)
				}
				for _, left := range []string{"step-000007.tmp-aaaaaaaa-1/model.ckpt.index", "checkpoint.tmp-bbbbbbbb-1"} {
					at := filepath.Join(dir, left)
					if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, nil, 0o666)); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(filepath.Join(dir, leaseName(1)), lease{Attempt: 1, Ended: true}.encode(), 0o666); err != nil {
					t.Fatal(err)
				}
				var told []string
				stuck := &stuckFS{FS: bundle.OS, stuck: tt.stuck, renaming: renaming}
				f, err := Claim(context.Background(), bundle.NewDisk(stuck, func(err error) { told = append(told, err.Error()) }), dir, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				again := state(10)
				again.Run.Finished = true
				for _, s := range []State{state(9), state(10), again, state(11), state(12)} {
					if _, err := f.Save(s, 1); err != nil {
						t.Fatalf("step %d: %v", s.Step, err)
					}
					wantLoad(t, dir, s)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
				if !slices.EqualFunc(told, tt.want, func(line, name string) bool {
					return strings.HasPrefix(line, "cannot remove "+filepath.Join(dir, name))
				}) {
					t.Errorf("warnings are %q, want one of each of %q", told, tt.want)
				}
				if len(stuck.failed) != len(tt.want) {
					t.Errorf("the calls that fail are %q, want one for each of %q", stuck.failed, tt.want)
				}
				stuck.stuck = ""
				save(t, dir, state(13), 1)
				if got := names(t, dir); got != "checkpoint step-000013" {
					t.Errorf("when all can be removed, the next process leaves %s", got)
				}
			})
		}
	}
}

// TestStateFileByLink verifies that a state file whose name is a link is written where the link ends,
// and that a link to nothing is an error of Claim. The link stays.
func TestStateFileByLink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	link, file := filepath.Join(dir, stateFile), filepath.Join(other, "state")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(t.Context(), quiet(bundle.OS), dir, "", nil); exitcode.Of(err) != exitcode.CannotCreate {
		t.Errorf("a link to nothing: %v", err)
	}
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	save(t, dir, state(1), 1)
	wantLoad(t, dir, state(1))
	if text, err := os.ReadFile(file); string(text) != formatState([]string{"step-000001"}) {
		t.Errorf("the file behind the link has %q, %v", text, err)
	}
	if to, err := os.Readlink(link); to != file {
		t.Errorf("the link is %q, %v", to, err)
	}
}

// TestLinkInTheWay verifies that links of the user's in a folder of checkpoints stay, whatever name
// they have, and that they are in no save's way.
func TestLinkInTheWay(t *testing.T) {
	dir := t.TempDir()
	links := []string{"step-000001", "step-000002.1", "step-000001.tmp-aaaaaaaa-1", "checkpoint.tmp-b-1", "lease-000003"}
	for _, name := range links {
		if err := os.Symlink("elsewhere", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for step := range int64(3) {
		save(t, dir, state(step), 1)
		wantLoad(t, dir, state(step))
	}
	for _, name := range links {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("link %s: %v", name, err)
		}
	}
}
