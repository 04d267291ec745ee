package launch

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
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

// On SIGTSTP, which Ctrl-Z sends, the launcher stops its ranks first: the terminal does not
// reach their process groups. It then tells the agents, which would take its silence for its
// end. SIGCONT undoes all of it. No timeout runs meanwhile.

// pauseTimeout bounds the wait until the agents have been told.
const pauseTimeout = time.Second

// pause stops the ranks, unless the job is about to end.
func (l *launcher) pause() {
	if !l.pausedAt.IsZero() || !l.termination.undisturbed() {
		return
	}
	l.pausedAt = time.Now()
	l.signalAll(syscall.SIGSTOP)
	l.broadcast(frame{kind: kindPause})
	over := make(chan struct{})
	late := time.AfterFunc(pauseTimeout, func() { close(over) })
	defer late.Stop()
	var flushing sync.WaitGroup
	for _, g := range l.logins {
		flushing.Go(func() { g.flush(over) })
	}
	flushing.Wait()
}

// suspend stops this process after pause, once no signal waits: SIGCONT may be among the
// signals. It returns when the process is continued.
func (l *launcher) suspend(signals <-chan os.Signal) {
	if !l.pausedAt.IsZero() && len(signals) == 0 && l.config.Suspend != nil {
		l.config.Suspend()
	}
}

// resume continues the ranks after pause.
func (l *launcher) resume() {
	if l.pausedAt.IsZero() {
		return
	}
	l.config.tell(fmt.Sprintf("the job was stopped for %v by signal %d, and goes on", time.Since(l.pausedAt).Round(time.Second), int(syscall.SIGTSTP)))
	l.pausedAt = time.Time{}
	l.broadcast(frame{kind: kindResume})
	l.signalAll(syscall.SIGCONT)
}

// broadcast sends f to every agent.
func (l *launcher) broadcast(f frame) {
	for _, g := range l.logins {
		g.enqueue(f)
	}
}
