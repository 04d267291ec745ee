package rendezvous

import "ringtrain/ring"

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
	Unproved struct{ Rank int }
	// Beaten is a heartbeat.
	Beaten struct {
		Stream uint64
		Step   int64
		Phase  string
	}
	// Broken is the end of a stream.
	Broken struct {
		Stream uint64
		Why    string
	}
	// Left is a worker that has done its work.
	Left struct{ Stream uint64 }
	// Aborted is a cause that a worker reports, or, on stream 0, the owner of
	// the Server.
	Aborted struct {
		Stream uint64
		Cause  *ring.Cause
	}
	// Exited is a process whose end the launcher saw.
	Exited struct {
		Rank int
		Text string
		Code int
	}
	// Probed is what became of a Probe.
	Probed struct {
		Rank   int
		Reason string
	}
	// Tick is time that passes.
	Tick struct{}
)

func (Joined) event()   {}
func (Reported) event() {}
func (Unproved) event() {}
func (Beaten) event()   {}
func (Broken) event()   {}
func (Left) event()     {}
func (Aborted) event()  {}
func (Exited) event()   {}
func (Probed) event()   {}
func (Tick) event()     {}

// Effect is what a State wants done: one of the types below.
type Effect interface{ effect() }

// The effects.
type (
	// SendWaiting tells a worker who is missing.
	SendWaiting struct {
		Stream  uint64
		Waiting Waiting
	}
	// SendMembership starts a worker's generation.
	SendMembership struct {
		Stream     uint64
		Membership ring.Membership
	}
	// SendRefused ends one worker and no other.
	SendRefused struct {
		Stream uint64
		Worker ring.Worker
		Cause  *ring.Cause
	}
	// SendAbort tells a worker the first cause of the job's end.
	SendAbort struct {
		Stream uint64
		Cause  *ring.Cause
	}
	// SendEnd tells a worker that all have left.
	SendEnd struct{ Stream uint64 }
	// Probe asks why a rank is missing; Probed is the answer.
	Probe struct {
		Rank int
		Addr string
	}
	// Finish is the end of the job; a nil Cause is the clean one.
	Finish struct{ Cause *ring.Cause }
)

func (SendWaiting) effect()    {}
func (SendMembership) effect() {}
func (SendRefused) effect()    {}
func (SendAbort) effect()      {}
func (SendEnd) effect()        {}
func (Probe) effect()          {}
func (Finish) effect()         {}
