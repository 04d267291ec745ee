package interpreter

import (
	"errors"
	"fmt"
	"runtime/debug"

	"ringtrain/ring/exitcode"
)

// refusal is an error that ends what [guarded] calls, from any depth: operations and the loading of a graph have no
// results for errors. It leaves the engines as they were.
type refusal struct{ error }

// refuse ends what guarded calls with an error.
func refuse(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// sure returns v. It ends what guarded calls if there is an error.
func sure[T any](v T, err error) T {
	if err != nil {
		panic(refusal{err})
	}
	return v
}

// about calls f. An error begins with the thing that it is about.
func about(thing any, f func()) {
	if _, err := guarded(f); err != nil {
		refuse("%v: %w", thing, err)
	}
}

// guarded calls f. Another panic than a refusal is an error with [exitcode.BadData], and breaks off what an engine did:
// only a damaged graph has nodes that their operations cannot have, and only a file that somebody shortens while it is
// mapped has pages that are not there.
func guarded(f func()) (broken bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch bug := recover().(type) {
		case nil:
			return
		case refusal:
			err = bug.error
			return
		case interface{ Addr() uintptr }:
			err = errors.New("the files of the model were changed in place")
		default:
			err = fmt.Errorf("the node is damaged, or its operation is: %v", bug)
		}
		broken, err = true, exitcode.With(exitcode.BadData, err)
	}()
	f()
	return false, nil
}
