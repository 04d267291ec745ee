package interpreter

import (
	"errors"
	"fmt"
	"runtime/debug"

	"ringtrain/ring/exitcode"
)

// guarded calls f. A panic is an error with [exitcode.BadData]: only a damaged graph has nodes that their
// operations cannot have, and only a file that somebody shortens while it is mapped has pages that are not there.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch bug := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = exitcode.With(exitcode.BadData, errors.New("the files of the model were changed in place"))
		default:
			err = exitcode.With(exitcode.BadData, fmt.Errorf("the node is damaged, or its operation is: %v", bug))
		}
	}()
	return f()
}
