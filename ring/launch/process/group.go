package process

import (
	"sync"
	"syscall"
	"time"
)

// sweepInterval is the time between two checks whether a process group is empty. The system
// has no event for it.
const sweepInterval = 20 * time.Millisecond

// SettleTime bounds the time that processes have to end by themselves after the end of the
// rank that they depend on, before TERM.
const SettleTime = time.Second

// KillTimeout bounds the time that a process takes to end after KILL. Only a dead disk or
// network file system makes it longer.
const KillTimeout = 10 * time.Second

// processGroup is the process group of one rank: the rank, which leads it, and the
// processes that it has started.
type processGroup struct {
	id int

	mu   sync.Mutex
	gone bool // the group has ended: the system may have given its id to another
}

// signal sends s to all processes of the group. It also continues stopped processes, which
// would handle s only after that, except for SIGSTOP.
func (g *processGroup) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		signalGroup(g.id, s)
	}
}

// empty reports whether the group has no process left. The caller must have waited for the
// leader.
func (g *processGroup) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = g.gone || groupEmpty(g.id)
	return g.gone
}

// sweep ends the processes that the leader has left behind. They have SettleTime to end by
// themselves, then grace after TERM, then KILL. sweep reports whether the group is empty.
func (g *processGroup) sweep(grace time.Duration) bool {
	if g.empty() {
		return true
	}
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{0, SettleTime}, {syscall.SIGTERM, grace}, {syscall.SIGKILL, KillTimeout}} {
		if step.signal != 0 {
			g.signal(step.signal)
		}
		if pollUntil(g.empty, step.wait) {
			return true
		}
	}
	return false
}

// pollUntil calls done until it returns true, for at most d, and returns its last result.
func pollUntil(done func() bool, d time.Duration) bool {
	limit := time.After(d)
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			return done()
		}
	}
	return true
}

// signalGroup sends s to a process group, and SIGCONT behind it.
func signalGroup(id int, s syscall.Signal) {
	syscall.Kill(-id, s) // an error means that the group has ended
	if s != syscall.SIGKILL && s != syscall.SIGSTOP {
		syscall.Kill(-id, syscall.SIGCONT)
	}
}

// groupEmpty reports whether no process of a group lives. As process 1 of a container the
// launcher inherits orphans, which groupEmpty waits for.
func groupEmpty(id int) bool {
	for {
		if pid, err := syscall.Wait4(-id, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
			break
		}
	}
	return syscall.Kill(-id, 0) != nil || onlyZombies(id)
}
