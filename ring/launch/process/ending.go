package process

import (
	"fmt"
	"os"
	"syscall"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Ending is how the process of a rank ended.
type Ending struct {
	Rank, PID int
	Host      string         // "" for this one
	ExitCode  int            // exit code, if no signal killed it
	Signal    syscall.Signal // 0 if it ended by itself
	Lost      bool           // the host is gone; how the rank ended, nobody knows
	Why       string         // the host is, or the rendezvous has refused the rank; "" if neither
}

func endingOf(rank, pid int, state *os.ProcessState) Ending {
	e := Ending{Rank: rank, PID: pid, ExitCode: exitcode.Failed}
	if state == nil { // the system did not tell
		return e
	}
	e.ExitCode = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal()
	}
	return e
}

func (e Ending) OK() bool { return e.ExitCode == 0 && e.Signal == 0 && !e.Lost }

// Code is the exit code as shells count: 128+n for signal n.
func (e Ending) Code() int {
	switch {
	case e.Lost:
		return exitcode.Retry
	case e.Signal != 0:
		return 128 + int(e.Signal)
	}
	return e.ExitCode
}

// Symptom reports whether the rank ended because another was gone. One that was refused has
// a reason of its own.
func (e Ending) Symptom() bool {
	return e.Signal == 0 && e.ExitCode == exitcode.Retry && !e.Lost && e.Why == ""
}

// Follows reports whether the rank ended by c, of which the rendezvous has told all, and
// that is not just this end. Who was first to end by it, no one needs to know.
func (e Ending) Follows(c *ring.Cause) bool {
	return e.Signal == 0 && !e.Lost && c.Text != e.Cause() && (e.ExitCode == c.ExitCode || e.Symptom())
}

// Obedient reports whether the rank ended as a signal had asked it to.
func (e Ending) Obedient() bool {
	return e.Signal == 0 && !e.Lost && (e.ExitCode == exitcode.Interrupted || e.ExitCode == exitcode.Terminated)
}

func (e Ending) String() string {
	who := fmt.Sprintf("rank %d", e.Rank)
	if e.Host != "" {
		who += " on host " + e.Host
	}
	switch {
	case e.Lost:
		return fmt.Sprintf("%s is lost: %s", who, e.Why)
	case e.Signal != 0:
		return fmt.Sprintf("%s was killed by %s", who, SignalText(e.Signal))
	}
	return fmt.Sprintf("%s (pid %d) ended with exit code %d%s", who, e.PID, e.ExitCode, e.because())
}

// Cause is how the rank ended, without its number: for a ring.Cause, which names it itself.
func (e Ending) Cause() string {
	on := ""
	if e.Host != "" {
		on = " on host " + e.Host
	}
	switch {
	case e.Lost:
		return fmt.Sprintf("host %s is lost: %s", e.Host, e.Why)
	case e.Signal != 0:
		return "killed by " + SignalText(e.Signal) + on
	}
	return fmt.Sprintf("process %d%s ended with exit code %d%s", e.PID, on, e.ExitCode, e.because())
}

// because is why the rank ended by itself, behind how it did.
func (e Ending) because() string {
	if e.Why == "" {
		return ""
	}
	return ": " + e.Why
}

func SignalText(s syscall.Signal) string { return fmt.Sprintf("signal %d (%v)", int(s), s) }

// Retryable reports whether to start the rank again may help: a signal killed it, its
// exit code says so, or its host is gone.
func (e Ending) Retryable() bool { return e.Lost || e.Signal != 0 || e.ExitCode >= 128 }
