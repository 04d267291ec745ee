package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ringtrain/export/bundle"
	"ringtrain/ring/folder"
)

// Saved describes a saved checkpoint.
type Saved struct {
	Path  string // the step folder
	Step  int64
	Bytes int64 // total of the files
}

// Save writes a checkpoint, makes it the newest, and removes the oldest ones beyond
// keep; with keep 0 it removes none. Save also removes older checkpoints of the same
// step. If the newest checkpoint has the same step and content, Save leaves it
// unchanged.
//
// After an error readers find the previous newest checkpoint or, if its folder has its
// name already, the new one. An error with [exitcode.Retry] means that another process has
// taken over the folder, and readers ignore what this one wrote.
//
// Save panics if the step is negative or two tensors have the same name.
func (f *Folder) Save(s State, keep int) (Saved, error) {
	if s.Step < 0 {
		panic("checkpoint: step is negative")
	}
	saved, err := f.save(s, keep)
	if err == nil {
		f.saved = true
		return saved, nil
	}
	if lost := f.CheckLease(); f.LeaseError() != nil { // the new holder removes the temporaries of this process
		err = lost
	}
	return Saved{}, bundle.Fault(fmt.Errorf("checkpoint of step %d: %w", s.Step, err))
}

func (f *Folder) save(s State, keep int) (Saved, error) {
	if _, err := bundle.MkdirAll(f.fs, f.dir); err != nil {
		return Saved{}, err
	}
	l, err := list(f.dir)
	if err == nil {
		err = f.CheckLease()
	}
	if err != nil {
		return Saved{}, err
	}
	f.sweep(l)
	name, bytes, err := f.step(s)
	if err == nil {
		err = f.commit(name, s.Step, keep)
	}
	return Saved{Path: f.path(name), Step: s.Step, Bytes: bytes}, err
}

// step writes a step folder atomically, and returns its name and bytes.
func (f *Folder) step(s State) (name string, n int64, err error) {
	tmp := f.temporary(stepName(s.Step, 0))
	defer func() {
		if err != nil { // keep the first error; the next Save sweeps leftovers
			_ = bundle.RemoveAll(f.fs, tmp)
		}
	}()
	if err := f.fs.Mkdir(tmp); err != nil {
		return "", 0, err
	}
	if n, err = bundle.Write(f.fs, filepath.Join(tmp, prefixName), s.tensors(f.own.Attempt)); err != nil {
		return "", 0, err
	}
	if err := f.fs.SyncDir(tmp); err != nil {
		return "", 0, err
	}
	there, err := f.newestFirst()
	if err != nil {
		return "", 0, err
	}
	if len(there) > 0 && there[0].step == s.Step && sameState(tmp, there[0].path) {
		f.fs.Discard(tmp)
		return there[0].name, n, nil
	}
	if name, err = f.publish(tmp, s.Step); err != nil {
		return "", 0, err
	}
	return name, n, f.fs.SyncDir(f.dir)
}

// publish renames a written step folder to an unused name. A named folder is never
// replaced, so no process can confuse it with another.
func (f *Folder) publish(tmp string, step int64) (name string, err error) {
	for copy := 0; ; copy++ {
		name = stepName(step, copy)
		if _, err := os.Lstat(f.path(name)); err == nil { // perhaps a link or a file of the user's
			f.taken[name] = true
		}
		if f.taken[name] {
			continue
		}
		if err := f.CheckLease(); err != nil {
			return "", err
		}
		err = f.fs.Rename(tmp, f.path(name))
		if err == nil {
			f.attempts[name] = f.own.Attempt
		}
		f.taken[name] = true
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// newestFirst returns the step folders, newest first.
func (f *Folder) newestFirst() ([]candidate, error) {
	l, err := list(f.dir)
	if err != nil {
		return nil, err
	}
	named, _ := readState(f.dir) // commit replaces a damaged state file
	named = slices.DeleteFunc(named, func(name string) bool { return !slices.Contains(l.steps, name) })
	return inOrder(f.dir, named, l.steps, f.attemptOf), nil
}

// commit writes a state file with the remaining step folders, then removes the others:
// unpinned ones beyond keep, and older ones of the saved step.
func (f *Folder) commit(name string, step int64, keep int) error {
	all, err := f.newestFirst()
	if err != nil {
		return err
	}
	var stay []string
	var drop []leftover
	pinned := f.pinned // 0 after the pinned step was found
	for _, c := range all {
		beyond := keep > 0 && len(stay) >= keep && (pinned == 0 || c.step != pinned)
		if c.step == step && c.name != name || beyond {
			drop = append(drop, leftover{name: c.name, of: c.name})
			continue
		}
		stay = append(stay, c.name)
		if c.step == pinned {
			pinned = 0
		}
	}
	slices.Reverse(stay)
	if err := f.writeState(formatState(stay)); err != nil {
		return err
	}
	f.discard(drop)
	return nil
}

func (f *Folder) writeState(text string) error {
	at, err := folder.File(f.path(stateFile)) // a link of the user's stays
	if err != nil {
		return err
	}
	if err := f.replace(at, []byte(text), bundle.WriteFile); err != nil {
		return err
	}
	return f.fs.SyncDir(filepath.Dir(at))
}

// discard removes entries of the folder that are no longer needed, if it can, and as
// long as this process holds the lease. It renames each one first: a reader never sees
// part of a step folder, and an earlier writer cannot publish its temporary any more.
func (f *Folder) discard(entries []leftover) {
	var trash []string
	for _, e := range entries {
		if f.CheckLease() != nil {
			return
		}
		name, aside := f.path(e.name), f.temporary(e.of)
		if f.fs.Clean(name, func() error { return f.fs.Rename(name, aside) }) {
			trash = append(trash, aside)
		}
	}
	if len(trash) > 0 && f.fs.SyncDir(f.dir) == nil { // else the next save removes them, or tells why not
		f.fs.Discard(trash...)
	}
}
