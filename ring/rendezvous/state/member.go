package state

import (
	"time"

	"ringtrain/ring"
)

// member is a worker that was admitted.
type member struct {
	Request
	stream            uint64 // 0 without one
	connection        connection
	progress          progress
	departure         departure
	joined            time.Duration // when it joined
	lastHeard         time.Duration // on the clock awake
	nextSilenceNotice time.Duration // when its silence is told next, on the same clock; 0: after the first stretch
	step              int64         // last completed, -1 before training
	phase             string        // its phase
	wait              ring.Wait     // its operation, without Since
	unchangedSince    time.Duration // since when none of the three has changed, on the clock awake
	breakReason       string        // why its stream broke, where it is awaited back; "": it did not, or nobody has seen it
	leaveCode         int           // exit code that it asked to leave with; 0: it did not
}

// connection is what the rendezvous knows of the way to a member.
type connection uint8

const (
	connOpen    connection = iota // the stream is open
	connClosing                   // the member has announced that it gives up the stream, and comes back
	connBroken                    // there is no stream; the member is awaited back
	connLost                      // the member is not awaited back; an open stream carries its last message
	connExited                    // likewise, and the launcher saw the process end
)

// gone reports whether the member is not awaited back.
func (c connection) gone() bool { return c >= connLost }

// progress is how far a member is in its generation.
type progress uint8

const (
	inGeneration      progress = iota // the member takes part, or has not left its group yet
	saidParted                        // another member has left this one alone
	saidLeft                          // the member has done its work
	saidPartedAndLeft                 // both
	readyForNext                      // the member waits for the next generation, or for the first
)

func (p progress) left() bool   { return p == saidLeft || p == saidPartedAndLeft }
func (p progress) parted() bool { return p == saidParted || p == saidPartedAndLeft }

// departure is what has become of a member's request to leave.
type departure uint8

const (
	staying        departure = iota // no request is open
	leaveRequested                  // the request waits for those of others
	leaveGranted                    // the member leaves alone
)

// absent reports whether the member is awaited back.
func (m *member) awaitedBack() bool { return m.connection == connBroken }

// disconnect notes that the stream is no more.
func (m *member) disconnect() {
	m.stream = 0
	if !m.connection.gone() {
		m.connection = connBroken
	}
}

// setLost marks the member as not awaited back.
func (m *member) setLost() {
	if !m.connection.gone() {
		m.connection = connLost
	}
}
