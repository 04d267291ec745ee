package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

// Latest returns the newest whole checkpoint of a folder: the path of its step
// folder, or the prefix of a checkpoint that TensorFlow wrote there. All of its
// checksums were compared. The file checkpoint says which is the newest; without
// it the highest step is.
//
// If newer checkpoints had to be passed over because they are damaged or
// missing, err says which and why, with [exitcode.BadData]. With found, that
// is a warning: path is whole and can be used. A folder that does not exist or
// has no checkpoint is no error.
func Latest(dir string) (path string, found bool, err error) { return newest(dir, verify) }

// newest returns the first checkpoint of a folder that try accepts. While it
// reads, a Save may replace and remove what it has listed: it gives up only when
// the same list has failed twice.
func newest(dir string, try func(path string) error) (path string, found bool, err error) {
	var before []string
	for {
		paths, skipped := candidates(dir)
		path, found, err = firstOf(paths, try)
		err = exitcode.With(exitcode.BadData, errors.Join(skipped, err))
		if err == nil || slices.Equal(paths, before) {
			return path, found, err
		}
		before = paths
	}
}

// firstOf returns the first path that try accepts; the error says what is wrong
// with those before it.
func firstOf(paths []string, try func(path string) error) (path string, found bool, skipped error) {
	for _, path := range paths {
		_, err := os.Stat(prefix(path) + ".index")
		if err != nil {
			err = exitcode.With(exitcode.BadData, fmt.Errorf("checkpoint %s: %w", path, err))
		} else if err = try(path); err == nil {
			return path, true, skipped
		}
		skipped = errors.Join(skipped, err)
	}
	return "", false, skipped
}

// candidates returns the checkpoints of a folder, from newest to oldest: first
// those that the state file names, then others from the highest step down. The
// error, if any, is a damaged state file or folder.
func candidates(dir string) ([]string, error) {
	f, err := list(dir)
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, err)
	}
	var paths []string
	names, err := readState(dir)
	if isMissing(err) {
		err = nil
	}
	for _, name := range names {
		path, ok := f.steps[name]
		delete(f.steps, name)
		switch {
		case ok:
		case filepath.IsAbs(name):
			path = name
		default:
			path = filepath.Join(dir, name)
		}
		paths = append(paths, path)
	}
	for _, name := range descending(f.steps) {
		paths = append(paths, f.steps[name])
	}
	return paths, err
}

// descending returns the names of step folders from the highest step down.
func descending(steps map[string]string) []string {
	names := make([]string, 0, len(steps))
	for name := range steps {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := parseStep(a)
		y, _ := parseStep(b)
		return cmp.Compare(y, x)
	})
	return names
}

// prefix returns the prefix of the bundle that path, a step folder or a prefix,
// stands for.
func prefix(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, prefixName)
	}
	if _, ok := parseStep(filepath.Base(path)); ok {
		return filepath.Join(path, prefixName)
	}
	return path
}

// verify reads a checkpoint and keeps nothing.
func verify(path string) error {
	r, err := bundle.Open(prefix(path))
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Verify(); err != nil {
		return err
	}
	var own []bundle.Tensor
	for _, e := range r.Entries() {
		if e.Name == globalStep || e.Name == runTensor {
			t, err := r.Read(e.Name)
			if err != nil {
				return err
			}
			own = append(own, t)
		}
	}
	if _, err := newState(own); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Load reads a checkpoint: path is a folder of checkpoints, of which it takes
// the newest, a step folder, or the prefix of a TensorFlow checkpoint. Where the
// newest of a folder is damaged Load returns an error that names the newest
// whole one, and leaves it to the caller to take that.
func Load(path string) (State, error) {
	if !isFolder(path) {
		return load(path)
	}
	var s State
	at, found, err := newest(path, func(at string) (err error) {
		s, err = load(at)
		return err
	})
	switch {
	case err != nil && found:
		return State{}, fmt.Errorf("%w (the newest whole checkpoint is %s)", err, at)
	case err != nil:
		return State{}, err
	case !found:
		return State{}, exitcode.With(exitcode.NoInput, fmt.Errorf("no checkpoint in %s", path))
	}
	return s, nil
}

// isFolder tells whether path is a folder of checkpoints, not a step folder or a
// prefix.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	_, isStep := parseStep(filepath.Base(path))
	_, err = os.Stat(filepath.Join(path, prefixName+".index"))
	return err != nil && !isStep
}

// load reads a step folder or prefix.
func load(path string) (State, error) {
	r, err := bundle.Open(prefix(path))
	if err != nil {
		return State{}, err
	}
	defer r.Close()
	tensors, err := r.ReadAll()
	if err != nil {
		return State{}, err
	}
	s, err := newState(tensors)
	if err != nil {
		return State{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
