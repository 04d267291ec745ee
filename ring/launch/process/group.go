package process

import (
	"sync"
	"syscall"
	"time"
)

// sweepEvery is how often a group is looked at that should be empty soon. A
// process group's end is not an event that could be waited for.
const sweepInterval = 20 * time.Millisecond

// SettleTime bounds the time that the other ranks have to end by themselves after the first
// failure, and that the children of a rank have after the rank.
const SettleTime = time.Second

// KillTimeout bounds the time that a process takes to end after KILL. Only a dead disk or
// network file system makes it longer.
const KillTimeout = 10 * time.Second

// group is the process group of one rank: the rank itself, which leads it, and
// what it has started.
type processGroup struct {
	id int

	mu   sync.Mutex
	gone bool // the id may belong to somebody else by now
}

// signal sends s to all processes of the group, and wakes those that are
// stopped, or s would wait for them. SIGSTOP wakes nobody.
func (g *processGroup) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		signalGroup(g.id, s)
	}
}

// empty tells whether nobody is left, once the leader was waited for.
func (g *processGroup) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = g.gone || groupEmpty(g.id)
	return g.gone
}

// sweep ends what the leader has left behind: they have SettleTime to end by
// themselves, then grace after TERM, then KILL. It reports whether the group is
// empty.
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

// waitUntil asks done again and again, for at most d.
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

func signalGroup(id int, s syscall.Signal) {
	syscall.Kill(-id, s) // an error means that nobody is there any more
	if s != syscall.SIGKILL && s != syscall.SIGSTOP {
		syscall.Kill(-id, syscall.SIGCONT)
	}
}

// groupEmpty tells whether no process of a group lives. As process 1 of a
// container the launcher inherits orphans, and waits for them here.
func groupEmpty(id int) bool {
	for {
		if pid, err := syscall.Wait4(-id, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
			break
		}
	}
	return syscall.Kill(-id, 0) != nil || onlyZombies(id)
}
