package state

import (
	"time"

	"ringtrain/ring"
)

// Effect is what a State wants done: one of the types below. What is sent goes
// to streams that are open.
type Effect interface{ effect() }

// The effects.
type (
	// SendWaiting tells a worker who is missing.
	SendWaiting struct {
		Stream  uint64
		Waiting Waiting
	}
	// SendMembership starts a worker's generation. Lost are the ranks that the
	// one before it has lost, and Cause is why it has ended; none in the first.
	SendMembership struct {
		Stream     uint64
		Membership ring.Membership
		Lost       []int
		Cause      *ring.Cause
	}
	// SendEndGeneration ends a worker's generation, and not the job.
	SendEndGeneration struct {
		Stream     uint64
		Generation uint64
		Lost       []int
		Cause      *ring.Cause
	}
	// SendResumed tells a worker that it goes on as before.
	SendResumed struct{ Stream uint64 }
	// SendStop tells a worker that all are to stop, with this exit code, for a
	// signal has told rank By to end; -1 where it is not one alone.
	SendStop struct {
		Stream uint64
		Code   int
		By     int
	}
	// SendLeaveAlone tells a worker that asked to leave that it alone is to.
	SendLeaveAlone struct{ Stream uint64 }
	// SendNotice tells a worker what a person should know.
	SendNotice struct {
		Stream uint64
		Text   string
	}
	// SendRefused ends one worker and no other.
	SendRefused struct {
		Stream   uint64
		Worker   ring.Worker
		Cause    *ring.Cause
		Replaced bool // the stream alone: the worker goes on, on another one
	}
	// SendAbort tells a worker the first cause of the job's end.
	SendAbort struct {
		Stream uint64
		Cause  *ring.Cause
	}
	// SendEnd tells a worker that all have left.
	SendEnd struct{ Stream uint64 }
	// Probe asks why a rank of the job is missing, or whether one that is awaited
	// back is still there; Probed is the answer.
	Probe struct {
		JobID string
		Rank  int
		Addr  string
	}
	// GiveUp tells the owner of the Server that a rank counts as lost whose process
	// seems to live, stopped or cut off: nobody awaits it any more.
	RankAbandoned struct{ Rank int }
	// Warn tells the owner of the Server what a person should know.
	Notify struct{ Text string }
	// SetLease says that the lease has grown: workers are told with the heartbeats.
	SetLease struct{ Lease time.Duration }
	// Keep writes a record to the journal. What follows waits until it is durable, in
	// order, also what later steps want; see backlog.
	Persist struct{ Record Record }
	// Finish is the end of the job; a nil Cause is the clean one.
	Finish struct{ Cause *ring.Cause }
)

func (SendWaiting) effect()       {}
func (SendMembership) effect()    {}
func (SendEndGeneration) effect() {}
func (SendResumed) effect()       {}
func (SendStop) effect()          {}
func (SendLeaveAlone) effect()    {}
func (SendNotice) effect()        {}
func (SendRefused) effect()       {}
func (SendAbort) effect()         {}
func (SendEnd) effect()           {}
func (Probe) effect()             {}
func (RankAbandoned) effect()     {}
func (Notify) effect()            {}
func (SetLease) effect()          {}
func (Persist) effect()           {}
func (Finish) effect()            {}
