package launch

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

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
