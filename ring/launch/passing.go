package launch

import (
	"syscall"
)

// end kills a rank that the others have given up. It may be stopped, which nothing
// else ends, and a successor may need its place.
func (l *launcher) end(rank int) {
	if l.left[rank] && l.course.calm() {
		l.signal(rank, syscall.SIGKILL)
	}
}

// signalled passes a signal to this process on. One that asks to end goes by
// the rendezvous first, so that no rank is taken for lost. A hang-up is passed
// on as TERM, upon which ranks save their state.
func (l *launcher) signalled(s syscall.Signal) order {
	switch {
	case s == syscall.SIGTSTP:
		l.pause()
		return orderNothing
	case s == syscall.SIGCONT:
		l.resume()
		return orderNothing
	case !ends(s):
		l.pass(s)
		return orderNothing
	}
	if s == syscall.SIGHUP {
		s = syscall.SIGTERM
	}
	if l.config.Server != nil && l.course.signal == 0 {
		l.config.Server.StopAll(128 + int(s))
	}
	return l.course.signalled(s, l.now())
}

// ends tells whether a signal asks to end.
func ends(s syscall.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGHUP
}

func (l *launcher) carryOut(o order) {
	if o != orderNothing {
		l.voices.outlet.lift(true) // who is to end must not wait for a reader
	}
	if s := o.signal(&l.course); s != 0 {
		l.pass(s)
	}
}

// pass sends s to all ranks that are left.
func (l *launcher) pass(s syscall.Signal) {
	for rank := range l.left {
		l.signal(rank, s)
	}
}

// signal sends s to a rank, unless its host is lost.
func (l *launcher) signal(rank int, s syscall.Signal) {
	if h := l.hosts[l.seats[rank].Host]; h != nil {
		h.signal(rank, s)
	}
}
