package rendezvous

import (
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"ringtrain/ring"
)

// refusalLog records the last workers that the rendezvous has refused alone, and why. A
// refused rank ends, and the launcher names the reason with the end.
type refusalLog struct {
	limit int
	host  string // this host, as workers name theirs

	strangers rateLimit // of notices about workers without the token

	mu      sync.Mutex
	entries []refusal
}

// refusal is one refused worker.
type refusal struct {
	pid        int  // of the worker; 0: the token was wrong, and only the rank is known
	onThisHost bool // the worker is on this host, where its pid is unique
	group      int  // its process group at that time
	cause      *ring.Cause
	at         time.Time
}

// refusalExitTimeout bounds the time between a refusal and the exit that it causes. A
// worker that ends later has joined again since, as a script does that retries, and ends
// for another reason.
const refusalExitTimeout = 5 * time.Second

// newRefusalLog returns the log of a world: each of its ranks may be refused and started
// again.
func newRefusalLog(size int) *refusalLog {
	return &refusalLog{limit: 2 * size, host: Self("").Host}
}

// isUnauthenticated reports whether w was refused for its token. Then only the rank that w
// claims is known.
func isUnauthenticated(w ring.Worker) bool { return w.PID == 0 }

// unauthenticatedNoticeEvery is the time between two notices of workers without the token.
// Such a worker tries again and again, and any process can be one.
const unauthenticatedNoticeEvery = 10 * time.Second

// rateLimit allows one notice in each interval. Its method may be called from several
// goroutines.
type rateLimit struct {
	mu   sync.Mutex
	last time.Time // zero: never
}

// allow reports whether a notice is due, and counts it as written.
func (o *rateLimit) allow() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.last.IsZero() && time.Since(o.last) < unauthenticatedNoticeEvery {
		return false
	}
	o.last = time.Now()
	return true
}

// add records a refusal. The caller calls it before it answers the worker, and so before
// the worker ends. Of workers without the token the log keeps the last one of each rank:
// they try again and again, and must not displace others.
func (r *refusalLog) add(w ring.Worker, c *ring.Cause) {
	k := refusal{pid: w.PID, onThisHost: w.Host == r.host, cause: c, at: time.Now()}
	if k.onThisHost && w.PID > 0 {
		k.group, _ = syscall.Getpgid(w.PID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if isUnauthenticated(w) {
		r.entries = slices.DeleteFunc(r.entries, func(o refusal) bool { return o.pid == 0 && o.cause.Rank == c.Rank })
	}
	r.entries = append(r.entries, k)
	r.entries = r.entries[max(len(r.entries)-r.limit, 0):]
}

// noteRefusal notes that a worker is refused alone, and tells people.
func (s *Server) noteRefusal(w ring.Worker, c *ring.Cause) {
	s.refusals.add(w, c)
	switch {
	case !isUnauthenticated(w):
		s.tellOwner(fmt.Sprintf("refused pid %d on %s (%s): %s", w.PID, w.Host, w.Addr, c.Text))
	case s.refusals.strangers.allow():
		s.tellOwner(fmt.Sprintf("refused a worker that claims rank %d: %s", w.Rank, c.Text))
	}
}

// Refused returns why a worker of a rank was refused alone: process pid, or a process of its group,
// which has ended with code. It returns "" if none was.
func (s *Server) Refused(rank, pid, code int) string { return s.refusals.reasonOf(rank, pid, code) }

// reasonOf returns why rank, which was process pid and has ended with code, was refused, or
// "". The refused worker is that process or one of its children, as under a script: another
// process may have claimed the rank, too.
func (r *refusalLog) reasonOf(rank, pid, code int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range slices.Backward(r.entries) {
		if time.Since(k.at) > refusalExitTimeout {
			return ""
		}
		own := k.cause.Rank == rank && (k.pid == pid || k.pid == 0) || k.onThisHost && (k.pid == pid || k.group == pid)
		if own && k.cause.ExitCode == code {
			return k.cause.Text
		}
	}
	return ""
}
