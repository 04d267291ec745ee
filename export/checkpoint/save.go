package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"ringtrain/export/bundle"
)

// Saved tells what Save has written.
type Saved struct {
	Path  string // the step folder
	Step  int64
	Bytes int64 // of its files
}

// Check reports whether checkpoints can be written into dir, which need not exist
// yet. It is for the time before training: the error, with
// [exitcode.CannotCreate], names the path and the reason. Nothing is left
// behind.
func Check(fs bundle.FS, dir string) error { return bundle.Probe(fs, dir) }

// Save claims dir for nobody's job, saves one checkpoint as [Folder.Save] does, and lets
// go of the folder.
func Save(fsys bundle.FS, dir string, s State, keep int) (Saved, error) {
	f, err := Claim(context.Background(), fsys, dir, "", nil)
	if err != nil {
		return Saved{}, bundle.Fault(fmt.Errorf("checkpoint of step %d: %w", s.Step, err))
	}
	saved, err := f.Save(s, keep)
	if failed := f.Close(); err == nil {
		err = failed
	}
	return saved, err
}

// Save writes a checkpoint, makes it the newest, and removes the oldest ones beyond
// keep; keep 0 keeps all. Older checkpoints of the same step go, too. If the newest
// checkpoint is of the same step and has the same content, it stays as it is.
//
// If Save returns an error, readers still find the checkpoint that was the newest
// before or, where only the cleaning up failed, the new one. With [exitcode.Retry]
// another process has taken over the folder, and what this one wrote does not count.
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
	if lost := f.Held(); f.Lost() != nil { // whoever has the folder removes what this one writes
		err = lost
	}
	return Saved{}, bundle.Fault(fmt.Errorf("checkpoint of step %d: %w", s.Step, err))
}

func (f *Folder) save(s State, keep int) (Saved, error) {
	if err := bundle.MkdirAll(f.fs, f.dir); err != nil {
		return Saved{}, err
	}
	l, err := list(f.dir)
	if err == nil {
		err = f.Held()
	}
	if err == nil {
		err = f.sweep(l)
	}
	if err != nil {
		return Saved{}, err
	}
	name, bytes, err := f.step(s)
	if err == nil {
		err = f.commit(name, s.Step, keep)
	}
	return Saved{Path: f.path(name), Step: s.Step, Bytes: bytes}, err
}

// step writes a step folder, whole or not at all, and returns its name and bytes.
func (f *Folder) step(s State) (name string, n int64, err error) {
	tmp := f.temporary(stepName(s.Step, 0))
	defer func() {
		if err != nil { // the first error counts; the next Save sweeps what is left
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
		return there[0].name, n, bundle.RemoveAll(f.fs, tmp)
	}
	if name, err = f.publish(tmp, s.Step); err != nil {
		return "", 0, err
	}
	return name, n, f.fs.SyncDir(f.dir)
}

// publish gives a written step folder a name that was never seen: what has a name is
// never replaced, so no process can take it for something else.
func (f *Folder) publish(tmp string, step int64) (name string, err error) {
	for copy := 0; ; copy++ {
		name = stepName(step, copy)
		if f.taken[name] {
			continue
		}
		if err := f.Held(); err != nil {
			return "", err
		}
		err = f.fs.Rename(tmp, f.path(name))
		if err == nil {
			f.attempts[name] = f.own.Attempt
		}
		if f.taken[name] = true; !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// newestFirst returns the step folders.
func (f *Folder) newestFirst() ([]candidate, error) {
	l, err := list(f.dir)
	if err != nil {
		return nil, err
	}
	named, _ := readState(f.dir) // a damaged one is about to be replaced
	named = slices.DeleteFunc(named, func(name string) bool { return !slices.Contains(l.steps, name) })
	return inOrder(f.dir, named, l.steps, f.attemptOf), nil
}

// commit makes the state file name the step folders that are to stay, and then removes
// the others: those beyond keep that are not pinned, and older ones of the step that was
// saved as name.
func (f *Folder) commit(name string, step int64, keep int) error {
	all, err := f.newestFirst()
	if err != nil {
		return err
	}
	var stay, drop []string
	pinned := f.pinned // until it is found
	for _, c := range all {
		beyond := keep > 0 && len(stay) >= keep && (pinned == 0 || c.step != pinned)
		if c.step == step && c.name != name || beyond {
			drop = append(drop, c.name)
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
	return f.discard(drop)
}

func (f *Folder) writeState(text string) (err error) {
	tmp := f.temporary(stateFile)
	defer func() {
		if err != nil {
			_ = bundle.RemoveAll(f.fs, tmp)
		}
	}()
	if err := bundle.WriteFile(f.fs, tmp, []byte(text)); err != nil {
		return err
	}
	if err := f.Held(); err != nil {
		return err
	}
	if err := f.fs.Rename(tmp, f.path(stateFile)); err != nil {
		return err
	}
	return f.fs.SyncDir(f.dir)
}

// discard removes step folders in such a way that no reader ever sees a part
// of one under its name.
func (f *Folder) discard(names []string) error {
	var trash []string
	for _, name := range names {
		if err := f.Held(); err != nil {
			return err
		}
		aside := f.temporary(name)
		switch err := f.fs.Rename(f.path(name), aside); {
		case err == nil:
			trash = append(trash, aside)
		case !errors.Is(err, fs.ErrNotExist): // else an earlier writer was about to do it
			return err
		}
	}
	if len(trash) == 0 {
		return nil
	}
	if err := f.fs.SyncDir(f.dir); err != nil {
		return err
	}
	for _, aside := range trash {
		if err := bundle.RemoveAll(f.fs, aside); err != nil {
			return err
		}
	}
	return nil
}
