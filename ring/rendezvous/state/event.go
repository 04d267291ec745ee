package state

import (
	"time"

	"ringtrain/ring"
)

// Event is the input of [State.Step]: one of the types below. The caller numbers streams from 1 and
// never uses a number again.
type Event interface{ event() }

// Request holds what a worker asks for when it joins.
type Request struct {
	JobID     string // "": the job id of the rendezvous
	Rank      int    // -1: the rendezvous assigns a rank
	WorldSize int    // 0: the world size of the rendezvous
	Worker    ring.Worker
	Protocol  int
	Version   string
	Agree     []string // "key=value" lines that are equal on all ranks
	Offers    []Offer
}

// The events.
type (
	// Joined reports a worker that has proved the token and wants to join.
	Joined struct {
		Stream  uint64
		Request Request
	}
	// Reported reports a worker that has proved the token and cannot take part. The worker found
	// the fault before it joined.
	Reported struct {
		Stream  uint64
		Request Request
		Cause   *ring.Cause
	}
	// WrongToken reports a client with a wrong token that claims Rank.
	WrongToken struct{ Rank int }
	// Heartbeat reports the last completed step, the phase and the operation of a worker. Wait has
	// no Since; nothing has changed for the time Unchanged.
	Heartbeat struct {
		Stream    uint64
		Step      int64
		Phase     string
		Wait      ring.Wait
		Unchanged time.Duration
	}
	// StreamBroken reports the end of a stream.
	StreamBroken struct {
		Stream uint64
		Reason string
	}
	// Left reports a worker that has done its work.
	Left struct{ Stream uint64 }
	// Aborted reports a cause of the end. Stream 0 is the owner of the server.
	Aborted struct {
		Stream uint64
		Cause  *ring.Cause
	}
	// Resumed reports a worker that has proved the token and was a member before the connection was
	// lost. Generation is the last one whose membership it received.
	Resumed struct {
		Stream     uint64
		Request    Request
		Generation uint64
	}
	// ReadyForNext reports a worker that has left its group after the end of Generation. Its state
	// is that of Step.
	ReadyForNext struct {
		Stream     uint64
		Generation uint64
		Step       int64
	}
	// Parted reports a worker that another worker has left at an agreed step, while Generation went
	// on.
	Parted struct {
		Stream     uint64
		Generation uint64
		Step       int64
	}
	// LeaveRequested reports a worker that a signal told to end with Code.
	LeaveRequested struct {
		Stream uint64
		Code   int
	}
	// StopAll is the owner's request to stop the job with its state saved.
	StopAll struct{ Code int }
	// ProcessStarted reports that the launcher starts a process for Rank.
	ProcessStarted struct{ Rank int }

	// ProcessExited reports the end of a process that the launcher started. With a Code of 128 or
	// more the rank may be started again.
	ProcessExited struct {
		Rank int
		Text string
		Code int

		Final bool // the launcher does not start the rank again
	}
	// Probed is the result of a Probe.
	Probed struct {
		Rank   int
		Reason string
	}
	// Tick reports that time has passed.
	Tick struct{}
)

func (Joined) event()         {}
func (Reported) event()       {}
func (WrongToken) event()     {}
func (Heartbeat) event()      {}
func (StreamBroken) event()   {}
func (Left) event()           {}
func (Aborted) event()        {}
func (Resumed) event()        {}
func (ReadyForNext) event()   {}
func (Parted) event()         {}
func (LeaveRequested) event() {}
func (StopAll) event()        {}
func (ProcessStarted) event() {}
func (ProcessExited) event()  {}
func (Probed) event()         {}
func (Tick) event()           {}
