package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"ringtrain/export/bundle"
	"ringtrain/ring/exitcode"
)

// newest returns the first checkpoint of a folder that try accepts. A concurrent Save
// may remove listed checkpoints, so newest gives up only after the same list has failed
// twice.
func newest(dir string, try func(path string) error) (path string, found bool, err error) {
	var before []candidate
	for {
		all, skipped := candidates(dir)
		path, found, err = firstOf(all, try)
		err = exitcode.With(exitcode.BadData, errors.Join(skipped, err))
		if err == nil || slices.Equal(all, before) {
			return path, found, err
		}
		before = all
	}
}

// firstOf returns the first path that try accepts. The error describes the faults of the
// paths before.
func firstOf(all []candidate, try func(path string) error) (path string, found bool, skipped error) {
	var faults []error
	for _, c := range all {
		_, err := os.Stat(prefix(c.path) + ".index")
		if err != nil {
			err = exitcode.With(exitcode.BadData, fmt.Errorf("checkpoint %s: %w", c.path, err))
		} else if err = try(c.path); err == nil {
			return c.path, true, joined(faults)
		}
		if exitcode.Of(err) == exitcode.BadData {
			err = fmt.Errorf("%w; remove %s", err, filepath.Dir(prefix(c.path)))
		}
		faults = append(faults, err)
	}
	return "", false, joined(faults)
}

// joined joins the first faults and counts the others: a state file may name any number
// of checkpoints.
func joined(faults []error) error {
	const most = 20
	if more := len(faults) - most; more > 0 {
		faults = append(slices.Clone(faults[:most]), exitcode.With(exitcode.BadData, fmt.Errorf("and %d more checkpoints", more)))
	}
	return errors.Join(faults...)
}

// Load reads a checkpoint. path is a folder of checkpoints, of which Load takes the
// newest, a step folder, or the prefix of a TensorFlow checkpoint. If the newest
// checkpoint of a folder is damaged, Load returns an error that names the newest whole
// one. The caller decides whether to use that.
func Load(path string) (State, error) {
	if !isFolder(path) {
		return load(path)
	}
	at, s, found, err := Newest(path)
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

// Newest returns the newest whole checkpoint of a folder: the path of its step folder, or the prefix
// of a checkpoint that TensorFlow wrote there, and its state. Newest verifies all checksums of the
// checkpoint. The newest is the one of the highest attempt and, within the attempt, of the highest
// step.
//
// If newer checkpoints are damaged or missing, err names them and the reasons, with
// [exitcode.BadData]. If found is true, err is a warning: path is whole. A missing or
// empty folder is no error.
func Newest(dir string) (path string, s State, found bool, err error) {
	path, found, err = newest(dir, func(at string) (err error) {
		s, err = load(at)
		return err
	})
	return path, s, found, err
}

// NewestRun returns the Run of the newest checkpoint of a folder. It does not read the
// tensors, so it may return the Run of a damaged checkpoint.
func NewestRun(dir string) (path string, run Run, found bool) {
	path, found, _ = newest(dir, func(at string) error {
		v, err := readRun(at)
		run = v.Run
		return err
	})
	return path, run, found
}

// readRun reads the run state at path, a step folder or prefix. The run state of another
// program's checkpoint is zero.
func readRun(path string) (versionedRun, error) {
	r, err := bundle.Open(prefix(path))
	if err != nil {
		return versionedRun{}, err
	}
	defer r.Close()
	if !slices.ContainsFunc(r.Entries(), func(e bundle.Entry) bool { return e.Name == runTensor }) {
		return versionedRun{}, nil
	}
	t, err := r.Read(runTensor)
	if err != nil {
		return versionedRun{}, err
	}
	return parseRun(t)
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
	s.Evaluation = readEvaluation(path)
	s.Run.takeBest(s.Evaluation)
	return s, nil
}
