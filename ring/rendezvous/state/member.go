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
	joined            time.Duration // time of the join
	lastHeard         time.Duration // awake time of the last heartbeat
	nextSilenceNotice time.Duration // awake time of the next notice about its silence; 0: after silenceNoticeAfter
	step              int64         // last completed step, -1 before training
	phase             string        // what the worker does, such as "train"
	wait              ring.Wait     // its operation, without Since
	unchangedSince    time.Duration // awake time since when step, phase and wait are unchanged
	leaveCode         int           // exit code of its request to leave; 0: no request
}

// connection is the state of the connection to a member.
type connection uint8

const (
	connOpen   connection = iota // the stream is open
	connLost                     // the member is not awaited back; an open stream may carry the last message
	connExited                   // as connLost, and the launcher reported the end of the process
)

// gone reports whether the member is not awaited back.
func (c connection) gone() bool { return c >= connLost }

// progress is the progress of a member in its generation.
type progress uint8

const (
	inGeneration      progress = iota // the member takes part, or has not left its group yet
	saidParted                        // the member reported that another one has left
	saidLeft                          // the member has done its work
	saidPartedAndLeft                 // both
	readyForNext                      // the member waits for the next generation, or for the first
)

func (p progress) left() bool   { return p == saidLeft || p == saidPartedAndLeft }
func (p progress) parted() bool { return p == saidParted || p == saidPartedAndLeft }

// withLeft returns the progress of a member in a generation that says that it has done its work.
func (p progress) withLeft() progress {
	switch p {
	case inGeneration:
		return saidLeft
	case saidParted:
		return saidPartedAndLeft
	}
	return p
}

// withParted returns the progress of a member in a generation that says that another has left.
func (p progress) withParted() progress {
	switch p {
	case inGeneration:
		return saidParted
	case saidLeft:
		return saidPartedAndLeft
	}
	return p
}

// departure is the state of a member's request to leave.
type departure uint8

const (
	staying      departure = iota // no open request
	leaveAsked                    // the request is not decided yet
	leaveGranted                  // the member may leave alone
)

// stopAwaiting notes that the member is not awaited back. This alone is no loss: see lose.
func (m *member) stopAwaiting() {
	if !m.connection.gone() {
		m.connection = connLost
	}
}
