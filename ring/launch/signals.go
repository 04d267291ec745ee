package launch

import (
	"syscall"
)

// end kills a rank that the others have given up. It may be stopped, which nothing
// else ends, and a successor may need its place.
func (l *launcher) killGivenUp(rank int) {
	if l.ranks[rank] && l.termination.undisturbed() {
		l.signal(rank, syscall.SIGKILL)
	}
}

// signalled passes a signal to this process on. One that asks to end goes by
// the rendezvous first, so that no rank is taken for lost. A hang-up is passed
// on as TERM, upon which ranks save their state.
func (l *launcher) handleSignal(s syscall.Signal) action {
	switch {
	case s == syscall.SIGTSTP:
		l.pause()
		return actionNone
	case s == syscall.SIGCONT:
		l.resume()
		return actionNone
	case !asksToEnd(s):
		l.signalAll(s)
		return actionNone
	}
	if s == syscall.SIGHUP {
		s = syscall.SIGTERM
	}
	if l.config.Server != nil && l.termination.signal == 0 {
		l.config.Server.StopAll(128 + int(s))
	}
	return l.termination.signaled(s, l.now())
}

// ends tells whether a signal asks to end.
func asksToEnd(s syscall.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP
}

func (l *launcher) perform(o action) {
	if o != actionNone {
		l.outputs.mux.raiseLimit(true) // who is to end must not wait for a reader
	}
	if s := o.signal(&l.termination); s != 0 {
		l.signalAll(s)
	}
}

// pass sends s to all ranks that are left.
func (l *launcher) signalAll(s syscall.Signal) {
	for rank := range l.ranks {
		l.signal(rank, s)
	}
}

// signal sends s to a rank, unless its host is lost.
func (l *launcher) signal(rank int, s syscall.Signal) {
	if h := l.hosts[l.assignments[rank].Host]; h != nil {
		h.signal(rank, s)
	}
}
