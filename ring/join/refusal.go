package join

import (
	"slices"
	"sync"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous"
)

// refusals are the last workers that the rendezvous has refused alone, and why. A rank
// that is refused ends by that, and the launcher tells the reason to whom it tells the end.
type refusalLog struct {
	limit int
	host  string // this one, as workers call theirs

	mu      sync.Mutex
	entries []refusal
}

type refusal struct {
	pid        int  // of the worker; 0 is one with a wrong token, of which only the rank is known
	onThisHost bool // it is on this host, where numbers of processes tell it from others
	group      int  // its process group then
	cause      *ring.Cause
	at         time.Time
}

// refusedFor is how long after its refusal a worker ends by it. Who ends later has come
// again since, as a script does that tries until it is taken in, and ends by something else.
const refusalExitTimeout = 5 * time.Second

// newRefusals are those of a world: each rank of it may be refused, and started again.
func newRefusalLog(size int) *refusalLog {
	return &refusalLog{limit: 2 * size, host: rendezvous.Self("").Host}
}

// isUnproved tells whether w was refused for its token: nothing else of it is known than
// the rank that it claims.
func isUnauthenticated(w ring.Worker) bool { return w.PID == 0 }

// unprovedEvery is the time between two notices of workers without the token. They try
// again and again, and anybody can.
const unauthenticatedNoticeEvery = 10 * time.Second

// occasion is the last time that people were told. Its method may be called from several
// goroutines.
type rateLimit struct {
	mu   sync.Mutex
	last time.Time // zero: never
}

// isDue reports whether it is time to tell people again, and takes it that they are told.
func (o *rateLimit) allow() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.last.IsZero() && time.Since(o.last) < unauthenticatedNoticeEvery {
		return false
	}
	o.last = time.Now()
	return true
}

// note keeps a refusal. It is called before the worker hears of it, and so before that
// ends. Of those without the token it keeps the last one of each rank: they come again
// and again, and shall not supplant others.
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

// of returns why rank, which was process pid and has ended with code, was refused; "" if
// it was not. The worker is that process, or one that it has started, as a script does: a
// stranger may have claimed the rank, too.
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
