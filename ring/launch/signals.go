package launch

import (
	"syscall"
)

// killGivenUp kills a rank that the others have given up. The rank may be stopped, and
// nothing else ends it then; a successor may need its place.
func (l *launcher) killGivenUp(rank int) {
	if l.ranks[rank] && l.termination.undisturbed() {
		l.signal(rank, syscall.SIGKILL)
	}
}

// handleSignal passes a signal to this process on to the ranks. A signal that asks to end
// goes through the rendezvous first, so that no rank counts as lost. SIGHUP becomes
// SIGTERM, on which ranks save their state.
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

// asksToEnd reports whether a signal asks to end.
func asksToEnd(s syscall.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP
}

// perform carries out an action.
func (l *launcher) perform(o action) {
	if o != actionNone {
		l.outputs.mux.raiseLimit(true) // ranks that are to end must not wait for a reader
	}
	if s := o.signal(&l.termination); s != 0 {
		l.signalAll(s)
	}
}

// signalAll sends s to all ranks that are left.
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
