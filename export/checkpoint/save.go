package checkpoint

import (
	"fmt"
	"os"
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

// Check tells whether checkpoints can be written into dir, which need not exist
// yet. It is for the time before training: the error, with
// [exitcode.CannotCreate], names the path and the reason. Nothing is left
// behind.
func Check(fs bundle.FS, dir string) error { return bundle.Probe(fs, dir) }

// Save writes a checkpoint into dir, makes it the newest, and removes the oldest
// ones beyond keep; keep 0 keeps all. A checkpoint of the same step is left as it
// is if it has the same content, and replaced otherwise.
//
// If Save returns an error, readers still find the checkpoint that was the
// newest before or, where only the cleaning up failed, the new one.
//
// Save panics if the step is negative or two tensors have the same name.
func Save(fs bundle.FS, dir string, s State, keep int) (Saved, error) {
	if s.Step < 0 {
		panic("checkpoint: step is negative")
	}
	saved := Saved{Path: filepath.Join(dir, stepName(s.Step)), Step: s.Step}
	w := writer{fs, dir}
	err := bundle.MkdirAll(fs, dir)
	if err == nil {
		err = w.sweep()
	}
	if err == nil {
		saved.Bytes, err = w.step(stepName(s.Step), s.tensors())
	}
	if err == nil {
		err = w.commit(stepName(s.Step), keep)
	}
	if err != nil {
		return Saved{}, bundle.Fault(fmt.Errorf("checkpoint of step %d: %w", s.Step, err))
	}
	return saved, nil
}

type writer struct {
	fs  bundle.FS
	dir string
}

func (w writer) path(name string) string { return filepath.Join(w.dir, name) }

// sweep removes what an interrupted Save has left, and ends a replacement that
// was interrupted between its two renames by taking it back.
func (w writer) sweep() error {
	f, err := list(w.dir)
	if err != nil {
		return err
	}
	for _, name := range f.leftovers {
		if err := bundle.RemoveAll(w.fs, w.path(name)); err != nil {
			return err
		}
	}
	for _, name := range f.replaced {
		old := w.path(name + replacedSuffix)
		if f.steps[name] != old {
			err = w.discard(name + replacedSuffix)
		} else if err = w.fs.Rename(old, w.path(name)); err == nil {
			err = w.fs.SyncDir(w.dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step writes a step folder, whole or not at all, and returns its bytes.
func (w writer) step(name string, tensors []bundle.Tensor) (n int64, err error) {
	tmp := bundle.Temporary(w.path(name))
	defer func() {
		if err != nil { // the first error counts; the next Save sweeps what is left
			_ = bundle.RemoveAll(w.fs, tmp)
		}
	}()
	if err := w.fs.Mkdir(tmp); err != nil {
		return 0, err
	}
	if n, err = bundle.Write(w.fs, filepath.Join(tmp, prefixName), tensors); err != nil {
		return 0, err
	}
	if err := w.fs.SyncDir(tmp); err != nil {
		return 0, err
	}
	final := w.path(name)
	if _, err := os.Stat(final); err == nil {
		if sameFiles(tmp, final) {
			return n, bundle.RemoveAll(w.fs, tmp)
		}
		return n, w.replace(name, tmp)
	}
	if err := w.fs.Rename(tmp, final); err != nil {
		return 0, err
	}
	return n, w.fs.SyncDir(w.dir)
}

// replace puts tmp in the place of a step folder. Between the two renames
// readers take the old folder under its other name.
func (w writer) replace(name, tmp string) error {
	final, old := w.path(name), w.path(name+replacedSuffix)
	if err := w.fs.Rename(final, old); err != nil {
		return err
	}
	if err := w.fs.Rename(tmp, final); err != nil {
		_ = w.fs.Rename(old, final) // else sweep does it
		return err
	}
	if err := w.fs.SyncDir(w.dir); err != nil {
		return err
	}
	return w.discard(name + replacedSuffix)
}

// discard removes step folders in such a way that no reader ever sees a part
// of one under its name.
func (w writer) discard(names ...string) error {
	var trash []string
	for _, name := range names {
		aside := bundle.Temporary(w.path(name))
		if err := w.fs.Rename(w.path(name), aside); err != nil {
			return err
		}
		trash = append(trash, aside)
	}
	if len(trash) == 0 {
		return nil
	}
	if err := w.fs.SyncDir(w.dir); err != nil {
		return err
	}
	for _, aside := range trash {
		if err := bundle.RemoveAll(w.fs, aside); err != nil {
			return err
		}
	}
	return nil
}

// commit makes a step the newest in the state file, and then removes the oldest
// beyond keep.
func (w writer) commit(newest string, keep int) error {
	f, err := list(w.dir)
	if err != nil {
		return err
	}
	delete(f.steps, newest)
	var listed []string          // newest first
	named, _ := readState(w.dir) // a damaged one is about to be replaced
	for _, name := range named {
		if _, ok := f.steps[name]; ok {
			listed = append(listed, name)
			delete(f.steps, name)
		}
	}
	steps := append(listed, descending(f.steps)...)
	slices.Reverse(steps)
	steps = append(steps, newest)
	drop := 0
	if keep > 0 {
		drop = max(len(steps)-keep, 0)
	}
	if err := w.writeState(formatState(steps[drop:])); err != nil {
		return err
	}
	return w.discard(steps[:drop]...)
}

func (w writer) writeState(text string) (err error) {
	tmp := bundle.Temporary(w.path(stateFile))
	defer func() {
		if err != nil {
			_ = bundle.RemoveAll(w.fs, tmp)
		}
	}()
	if err := bundle.WriteFile(w.fs, tmp, []byte(text)); err != nil {
		return err
	}
	if err := w.fs.Rename(tmp, w.path(stateFile)); err != nil {
		return err
	}
	return w.fs.SyncDir(w.dir)
}
