package state

import (
	"time"

	"ringtrain/ring"
)

// Event is what happens to a State: one of the types below. Streams are
// numbered by whoever owns them, from 1, and never used again.
type Event interface{ event() }

// Request is what a worker asks for.
type Request struct {
	JobID     string // "": whatever the rendezvous says
	Rank      int    // -1: give me one
	WorldSize int    // 0: whatever the rendezvous says
	Worker    ring.Worker
	Protocol  int
	Version   string
	Agree     []string // "key=value", equal on all ranks
	Offers    []Offer
}

// The events.
type (
	// Joined is a worker that has proved the token.
	Joined struct {
		Stream  uint64
		Request Request
	}
	// Reported is a worker that has proved the token and found, before it
	// joined, that it cannot take part.
	Reported struct {
		Stream  uint64
		Request Request
		Cause   *ring.Cause
	}
	// Unproved is somebody with a wrong token who claims a rank.
	WrongToken struct{ Rank int }
	// Beaten is a heartbeat: the last completed step, the phase, and the operation
	// without Since, in which nothing has moved For so long.
	Heartbeat struct {
		Stream    uint64
		Step      int64
		Phase     string
		Wait      ring.Wait
		Unchanged time.Duration
	}
	// Broken is the end of a stream.
	StreamBroken struct {
		Stream uint64
		Reason string
	}
	// Away is a worker that gives up its stream, since it has heard nothing for the
	// lease, and comes back on another one.
	StreamAbandoned struct{ Stream uint64 }
	// Heard is a worker that was told the end and has closed its stream upon it.
	EndConfirmed struct{ Stream uint64 }
	// Left is a worker that has done its work.
	Left struct{ Stream uint64 }
	// Aborted is a cause that a worker reports, or, on stream 0, the owner of
	// the Server.
	Aborted struct {
		Stream uint64
		Cause  *ring.Cause
	}
	// Resumed is a worker that has proved the token and was here before the
	// rendezvous was lost. Generation is the last that it had the membership of.
	Resumed struct {
		Stream     uint64
		Request    Request
		Generation uint64
	}
	// Readied is a worker that has left its group after the end of Generation, and
	// holds what it had at Step.
	ReadyForNext struct {
		Stream     uint64
		Generation uint64
		Step       int64
	}
	// Parted is a worker from which another has left, while Generation goes on, at
	// a step that all agreed on.
	Parted struct {
		Stream     uint64
		Generation uint64
		Step       int64
	}
	// Leaving is a worker that was told by a signal to end with Code.
	LeaveRequested struct {
		Stream uint64
		Code   int
	}
	// StopAll is the owner's wish that the job stops, with its state saved.
	StopAll struct{ Code int }
	// Started is a process that the launcher starts for a rank.
	ProcessStarted struct{ Rank int }

	// Exited is a process whose end the launcher saw. A Code of 128 or more says
	// that the rank may be started again.
	ProcessExited struct {
		Rank int
		Text string
		Code int

		Final bool // nobody starts it again
	}
	// Probed is what became of a Probe.
	Probed struct {
		Rank   int
		Reason string

		Refused bool // the host is there, and nobody listens
	}
	// Unkept is a journal that cannot be written and is not used any more: the job goes
	// on without it.
	JournalAbandoned struct{ Reason string }
	// Tick is time that passes. Behind is how long the journal has been writing one
	// record by now, 0 if all are written.
	Tick struct{ JournalDelay time.Duration }
)

func (Joined) event()           {}
func (Reported) event()         {}
func (WrongToken) event()       {}
func (Heartbeat) event()        {}
func (StreamBroken) event()     {}
func (StreamAbandoned) event()  {}
func (EndConfirmed) event()     {}
func (Left) event()             {}
func (Aborted) event()          {}
func (Resumed) event()          {}
func (ReadyForNext) event()     {}
func (Parted) event()           {}
func (LeaveRequested) event()   {}
func (StopAll) event()          {}
func (ProcessStarted) event()   {}
func (ProcessExited) event()    {}
func (Probed) event()           {}
func (JournalAbandoned) event() {}
func (Tick) event()             {}
