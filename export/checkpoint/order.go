package checkpoint

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"

	"ringtrain/ring/exitcode"
)

// A candidate is a checkpoint that a reader may take.
type candidate struct {
	name    string // a step folder, or another program's prefix as the state file has it
	path    string
	attempt int64 // that wrote it: 0 if it knew of none
	step    int64
	copy    int
	named   int  // place in the state file, newest first; unnamed
	unknown bool // the attempt cannot be read
}

const unnamed = math.MaxInt

// candidates returns the checkpoints of a folder, newest first: by attempt, then by
// step. Those of attempt 0, from before there were attempts and from other programs,
// are in the order of the state file, and then from the highest step down. One of
// another program that the state file names as the newest is the newest: it was there
// last. The error, if any, is a damaged state file or folder.
func candidates(dir string) ([]candidate, error) {
	l, err := list(dir)
	if err != nil {
		return nil, exitcode.With(exitcode.BadData, err)
	}
	names, err := readState(dir)
	if isMissing(err) {
		err = nil
	}
	return inOrder(dir, names, l.steps, func(name string) (int64, error) { return readAttempt(filepath.Join(dir, name)) }), err
}

// inOrder is candidates for the names in the state file and the step folders.
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
		case named == 0: // another program was here last
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
		known = slices.Insert(known, placeOf(c, known), c)
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

// placeOf is where a candidate belongs whose attempt cannot be read: before those that
// the state file names as older; if it is not named, before those of lower steps that
// are not either.
func placeOf(c candidate, known []candidate) int {
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

// readAttempt returns the attempt that wrote a checkpoint, without its tensors.
func readAttempt(path string) (int64, error) {
	run, err := readRun(path)
	return run.Attempt, err
}
