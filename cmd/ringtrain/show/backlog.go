package show

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/model/train/report"
)

// A backlog adds up the events between those that a reader must have, while the reader does not read:
// training must not wait for a launcher that is stopped.
type backlog struct {
	step  *report.Step
	ranks *report.Ranks
}

// add takes an event and returns those that are to be written now, in order. room says whether a write
// would not block. An event that the reader must have is written in any case.
func (b *backlog) add(e report.Event, room bool) []report.Event {
	switch next := e.(type) {
	case report.Step:
		if b.step != nil {
			next = b.step.Add(next)
		}
		b.step, e, room = &next, nil, room || next.Due != nil
	case report.Ranks:
		if b.ranks != nil {
			next = b.ranks.Add(next)
		}
		b.ranks, e = &next, nil
	default:
		room = true
	}
	if !room {
		return nil
	}
	var all []report.Event
	if b.step != nil {
		all = append(all, *b.step)
	}
	if b.ranks != nil {
		all = append(all, *b.ranks)
	}
	if e != nil {
		all = append(all, e)
	}
	*b = backlog{}
	return all
}

// handOn writes an event for the launcher, which reads this rank's standard output.
func (r *Reporter) handOn(e report.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.behind.add(e, r.hasRoom()) {
		r.Stdout.Write(r.jsonOf(report.Stamped{Event: e, Time: time.Now()}))
	}
}

// hasRoom reports whether standard output takes some bytes without a wait, if it is a pipe.
func (r *Reporter) hasRoom() bool {
	f, ok := r.out.(*os.File)
	if !ok {
		return true
	}
	poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(poll, 0)
	return n > 0 || err != nil
}
