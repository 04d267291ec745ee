package state

import (
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// member is a worker of the known generation, or one that waits for the next generation.
type member struct {
	Request
	stream            uint64 // 0 without one
	place             place
	fresh             bool          // it has been in no generation of this life
	joined            time.Duration // time of the join
	lastHeard         time.Duration // awake time of the last word of it
	nextSilenceNotice time.Duration // awake time of the next notice about its silence; 0: after silenceNoticeAfter
	brokeAt           time.Duration // time at which its stream broke
	breakReason       string        // why; "": unknown
	portClosed        bool          // its port answers for nobody, or for another process
	step              int64         // last completed step, -1 before training
	phase             string        // what the worker does, such as "train"
	wait              ring.Wait     // its operation, without Since
	unchangedSince    time.Duration // awake time since when step, phase and wait are unchanged
	leaveCode         int           // exit code of its request to leave; 0: no request
	strangers         string        // what has come to its port and proved nothing, for people
}

// place is where a member is. A member that is gone is no member any more.
type place uint8

const (
	here  place = iota // it has a stream, and is in its generation or has not left its group yet
	away               // it has no stream and is awaited back
	ready              // it is out of its group and waits for the next generation
	left               // it has done its work
)

// heard notes that the member lives.
func (m *member) heard(awake time.Duration) {
	m.lastHeard, m.nextSilenceNotice = max(m.lastHeard, awake), 0
}

// present reports whether the rendezvous hears the member.
func (m *member) present() bool { return m.stream != 0 }

// noteHeartbeat stores the member's phase and operation, and since when they are unchanged.
func (m *member) noteHeartbeat(e Heartbeat, now time.Duration) {
	if e.Step != m.step || e.Phase != m.phase || e.Wait != m.wait {
		m.unchangedSince = max(m.unchangedSince, now-max(e.Unchanged, 0))
	}
	m.phase, m.wait = e.Phase, e.Wait
}

// lossCause returns the cause if the member is lost for a reason.
func (m *member) lossCause(reason string) *ring.Cause {
	return &ring.Cause{
		Rank: m.Rank, Host: m.Worker.Host, Step: m.step, Operation: m.phase, Peer: m.Worker.Addr,
		Text:     fmt.Sprintf("lost rank %d (%s %s): %s", m.Rank, m.Worker.Host, m.Worker.Addr, reason),
		ExitCode: exitcode.Retry,
	}
}

// connect gives a member a new stream in place of its old one.
func (s *knownState) connect(m *member, stream uint64) {
	delete(s.byStream, m.stream)
	m.stream, m.breakReason, m.portClosed = stream, "", false
	if m.place == away {
		m.place = here
	}
	m.heard(s.clock.awake)
	m.unchangedSince = s.clock.awake // the next heartbeat reports its operation
	s.byStream[stream] = m
}
