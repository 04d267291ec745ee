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
	Host      string         // "": this host
	ExitCode  int            // exit code, unless a signal killed the process
	Signal    syscall.Signal // that killed the process; 0: none
	Lost      bool           // the host is lost, and how the rank ended is unknown
	Why       string         // why the host is lost, or what a rank that ended by itself said last of the reason; may be ""
}

// endingOf returns how process pid of a rank ended.
func endingOf(rank, pid int, state *os.ProcessState) Ending {
	e := Ending{Rank: rank, PID: pid, ExitCode: exitcode.Failed}
	if state == nil { // unknown to the system
		return e
	}
	e.ExitCode = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal()
	}
	return e
}

// OK reports whether the rank ended well.
func (e Ending) OK() bool { return e.ExitCode == 0 && e.Signal == 0 && !e.Lost }

// Code returns the exit code as shells count: 128+n for signal n.
func (e Ending) Code() int {
	switch {
	case e.Lost:
		return exitcode.Retry
	case e.Signal != 0:
		return 128 + int(e.Signal)
	}
	return e.ExitCode
}

// Symptom reports whether the rank may have ended because another rank was gone.
func (e Ending) Symptom() bool {
	return e.Signal == 0 && e.ExitCode == exitcode.Retry && !e.Lost
}

// Follows reports whether the rank ended because of c, the cause that the rendezvous told
// all ranks. A cause that only describes this ending is none.
func (e Ending) Follows(c *ring.Cause) bool {
	return e.Signal == 0 && !e.Lost && c.Text != e.Cause() && (e.ExitCode == c.ExitCode || e.Symptom())
}

// Obedient reports whether the rank ended as a signal had asked it to.
func (e Ending) Obedient() bool {
	return e.Signal == 0 && !e.Lost && (e.ExitCode == exitcode.Interrupted || e.ExitCode == exitcode.Terminated)
}

// String describes the ending with its rank, for people.
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

// Cause describes the ending without its rank, for a ring.Cause, which names the rank
// itself.
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

// because returns why the rank ended by itself, as an addition to its exit code.
func (e Ending) because() string {
	if e.Why == "" {
		return ""
	}
	return ": " + e.Why
}

// SignalText names a signal by number and name.
func SignalText(s syscall.Signal) string { return fmt.Sprintf("signal %d (%v)", int(s), s) }

// Retryable reports whether another start of the rank may help: a signal killed it, its
// exit code says so, or its host is lost.
func (e Ending) Retryable() bool { return e.Lost || e.Signal != 0 || e.ExitCode >= 128 }
