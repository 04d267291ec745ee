package launch

import (
	"fmt"
	"os"
	"syscall"

	"ringtrain/ring/exitcode"
)

// ending is how the process of a rank ended.
type ending struct {
	rank, pid int
	exit      int            // exit code, if no signal killed it
	signal    syscall.Signal // 0 if it ended by itself
}

func endingOf(rank, pid int, state *os.ProcessState) ending {
	e := ending{rank: rank, pid: pid, exit: exitcode.Failed}
	if state == nil { // the system did not tell
		return e
	}
	e.exit = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.signal = ws.Signal()
	}
	return e
}

func (e ending) ok() bool { return e.exit == 0 && e.signal == 0 }

// code is the exit code as shells count: 128+n for signal n.
func (e ending) code() int {
	if e.signal != 0 {
		return 128 + int(e.signal)
	}
	return e.exit
}

// symptom tells whether the rank ended because another was gone.
func (e ending) symptom() bool { return e.signal == 0 && e.exit == exitcode.Retry }

// obedient tells whether the rank ended as a signal had asked it to.
func (e ending) obedient() bool {
	return e.signal == 0 && (e.exit == exitcode.Interrupted || e.exit == exitcode.Terminated)
}

func (e ending) String() string {
	if e.signal != 0 {
		return fmt.Sprintf("rank %d was killed by %s", e.rank, signalText(e.signal))
	}
	return fmt.Sprintf("rank %d (pid %d) ended with exit code %d", e.rank, e.pid, e.exit)
}

// without the rank, for a ring.Cause, which names it itself.
func (e ending) cause() string {
	if e.signal != 0 {
		return "killed by " + signalText(e.signal)
	}
	return fmt.Sprintf("process %d ended with exit code %d", e.pid, e.exit)
}

func signalText(s syscall.Signal) string { return fmt.Sprintf("signal %d (%v)", int(s), s) }
