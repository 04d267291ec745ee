package launch

import (
	"fmt"
	"os"
	"syscall"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// ending is how the process of a rank ended.
type ending struct {
	rank, pid int
	host      string         // "" for this one
	exit      int            // exit code, if no signal killed it
	signal    syscall.Signal // 0 if it ended by itself
	lost      bool           // the host is gone; how the rank ended, nobody knows
	why       string         // the host is, or the rendezvous has refused the rank; "" if neither
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

func (e ending) ok() bool { return e.exit == 0 && e.signal == 0 && !e.lost }

// code is the exit code as shells count: 128+n for signal n.
func (e ending) code() int {
	switch {
	case e.lost:
		return exitcode.Retry
	case e.signal != 0:
		return 128 + int(e.signal)
	}
	return e.exit
}

// symptom tells whether the rank ended because another was gone. One that was refused has
// a reason of its own.
func (e ending) symptom() bool {
	return e.signal == 0 && e.exit == exitcode.Retry && !e.lost && e.why == ""
}

// follows tells whether the rank ended by c, of which the rendezvous has told all, and
// that is not just this end. Who was first to end by it, no one needs to know.
func (e ending) follows(c *ring.Cause) bool {
	return e.signal == 0 && !e.lost && c.Text != e.cause() && (e.exit == c.ExitCode || e.symptom())
}

// obedient tells whether the rank ended as a signal had asked it to.
func (e ending) obedient() bool {
	return e.signal == 0 && !e.lost && (e.exit == exitcode.Interrupted || e.exit == exitcode.Terminated)
}

func (e ending) String() string {
	who := fmt.Sprintf("rank %d", e.rank)
	if e.host != "" {
		who += " on host " + e.host
	}
	switch {
	case e.lost:
		return fmt.Sprintf("%s is lost: %s", who, e.why)
	case e.signal != 0:
		return fmt.Sprintf("%s was killed by %s", who, signalText(e.signal))
	}
	return fmt.Sprintf("%s (pid %d) ended with exit code %d%s", who, e.pid, e.exit, e.because())
}

// cause is how the rank ended, without its number: for a ring.Cause, which names it itself.
func (e ending) cause() string {
	on := ""
	if e.host != "" {
		on = " on host " + e.host
	}
	switch {
	case e.lost:
		return fmt.Sprintf("host %s is lost: %s", e.host, e.why)
	case e.signal != 0:
		return "killed by " + signalText(e.signal) + on
	}
	return fmt.Sprintf("process %d%s ended with exit code %d%s", e.pid, on, e.exit, e.because())
}

// because is why the rank ended by itself, behind how it did.
func (e ending) because() string {
	if e.why == "" {
		return ""
	}
	return ": " + e.why
}

func signalText(s syscall.Signal) string { return fmt.Sprintf("signal %d (%v)", int(s), s) }
