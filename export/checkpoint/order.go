package checkpoint

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"ringtrain/ring/exitcode"
)

// A candidate is a checkpoint that a reader may use.
type candidate struct {
	name    string // step folder, or another program's prefix from the state file
	path    string
	attempt int64 // of the writer; 0 for a writer without attempts
	step    int64
	copy    int
	named   int  // position in the state file, newest first; or unnamed
	unknown bool // the attempt is unreadable
}

const unnamed = math.MaxInt

// candidates returns the checkpoints of a folder, newest first: by attempt, then by
// step. Checkpoints of attempt 0 (old versions, other programs) follow the order of the
// state file, then descending steps. If the state file names another program's
// checkpoint as the newest, that one is first: the other program wrote last. An error
// reports a damaged state file or folder.
func candidates(dir string) ([]candidate, error) {
	l, err := list(dir)
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, err)
	}
	names, err := readState(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return inOrder(dir, names, l.steps, func(name string) (int64, error) { return readAttempt(filepath.Join(dir, name)) }), err
}

// inOrder orders the names in the state file and the step folders, as candidates does.
func inOrder(dir string, names, steps []string, attemptOf func(name string) (int64, error)) []candidate {
	var known, unknown []candidate
	add := func(name string, named int) {
		c := candidate{name: name, path: filepath.Join(dir, name), named: named}
		var step bool
		var err error
		c.step, c.copy, step = parseStep(name)
		switch {
		case step:
			c.attempt, err = attemptOf(name)
		case named == 0: // another program wrote last
			c.attempt = math.MaxInt64
		}
		if filepath.IsAbs(name) {
			c.path = name
		}
		if c.unknown = err != nil; c.unknown {
			unknown = append(unknown, c)
		} else {
			known = append(known, c)
		}
	}
	for i, name := range names {
		add(name, i)
	}
	for _, name := range steps {
		if !slices.Contains(names, name) {
			add(name, unnamed)
		}
	}
	slices.SortFunc(known, newerFirst)
	slices.SortFunc(unknown, newerFirst)
	for _, c := range slices.Backward(unknown) {
		known = slices.Insert(known, insertionIndex(c, known), c)
	}
	return known
}

func newerFirst(a, b candidate) int {
	if c := cmp.Compare(b.attempt, a.attempt); c != 0 {
		return c
	}
	if a.attempt == 0 {
		if c := cmp.Compare(a.named, b.named); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(b.step, a.step), cmp.Compare(b.copy, a.copy))
}

// insertionIndex returns the index of a candidate with an unreadable attempt: before the
// candidates that the state file names as older, or, if it is unnamed, before the
// unnamed ones of lower steps.
func insertionIndex(c candidate, known []candidate) int {
	i := slices.IndexFunc(known, func(k candidate) bool {
		if c.named == unnamed {
			return k.named == unnamed && k.step < c.step
		}
		return k.named != unnamed && k.named > c.named
	})
	if i < 0 {
		return len(known)
	}
	return i
}

// readAttempt returns the attempt that wrote a checkpoint. It does not read the tensors.
func readAttempt(path string) (int64, error) {
	run, err := readRun(path)
	return run.Attempt, err
}
