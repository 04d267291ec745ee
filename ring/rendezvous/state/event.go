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

// Doing is what a worker that comes again does.
type Doing uint8

// The values of Doing.
const (
	InGroup    Doing = iota // it is in the group of its generation, or has not left it yet
	OutOfGroup              // it has left the group and waits for the next generation
	WorkDone                // it has done its work
)

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
	// WrongTokens lists the addresses from which processes with another token have come, the newest
	// first.
	WrongTokens struct{ List []WrongToken }
	// StrangersCame reports how many connections to a port have proved nothing, in words for people: to
	// that of the rendezvous (Stream 0), or to that of a worker.
	StrangersCame struct {
		Stream uint64
		Text   string
	}
	// Heartbeat reports the last completed step, the phase and the operation of a worker. Wait has
	// no Since; nothing has changed for the time Unchanged. Whole says that the first collective
	// operation of the worker's generation has ended.
	Heartbeat struct {
		Stream    uint64
		Step      int64
		Whole     bool
		Phase     string
		Wait      ring.Wait
		Unchanged time.Duration
	}
	// StreamBroken reports the end of a stream. Closed says that the worker has ended it: it does not
	// come again.
	StreamBroken struct {
		Stream uint64
		Reason string
		Closed bool
	}
	// EndConfirmed reports a worker that has received the end and has closed its stream.
	EndConfirmed struct{ Stream uint64 }
	// Left reports a worker that has done its work.
	Left struct{ Stream uint64 }
	// Aborted reports a cause of the end. Stream 0 is the owner of the server.
	Aborted struct {
		Stream uint64
		Cause  *ring.Cause
	}
	// Resumed reports a worker that has proved the token and has been in a generation.
	Resumed struct {
		Stream  uint64
		Request Request
		Record  Record
		Doing   Doing
	}
	// ReadyForNext reports a worker that has left its group after the end of Generation. Its state
	// is that of Step.
	ReadyForNext struct {
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
	// Probed is the answer to a Probe.
	Probed struct {
		Rank        int
		Incarnation uint64 // of the Probe
		Reason      string // why the rank is missing, for people

		Refused bool   // the host is up, and nobody listens at the port
		Owner   uint64 // incarnation of the worker that has proved itself there; 0: none has
		Follows uint64 // instance of the rendezvous that this worker is connected to; 0: none
	}
	// Tick reports that time has passed.
	Tick struct{}
)

func (Joined) event()         {}
func (Reported) event()       {}
func (WrongTokens) event()    {}
func (StrangersCame) event()  {}
func (Heartbeat) event()      {}
func (StreamBroken) event()   {}
func (EndConfirmed) event()   {}
func (Left) event()           {}
func (Aborted) event()        {}
func (Resumed) event()        {}
func (ReadyForNext) event()   {}
func (LeaveRequested) event() {}
func (StopAll) event()        {}
func (ProcessStarted) event() {}
func (ProcessExited) event()  {}
func (Probed) event()         {}
func (Tick) event()           {}
