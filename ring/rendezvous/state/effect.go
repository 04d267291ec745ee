package state

import (
	"time"

	"ringtrain/ring"
)

// Effect is the output of [State.Step]: one of the types below. Messages go to open streams only.
type Effect interface{ effect() }

// The effects.
type (
	// SendWaiting tells a worker which ranks are missing.
	SendWaiting struct {
		Stream  uint64
		Waiting Waiting
	}
	// SendMembership starts a generation for a worker. Lost are the ranks that the previous
	// generation lost, and Cause is the cause of its end. Both are empty for the first generation.
	SendMembership struct {
		Stream     uint64
		Membership ring.Membership
		Lost       []int
		Cause      *ring.Cause
	}
	// SendEndGeneration ends the generation of a worker, but not the job.
	SendEndGeneration struct {
		Stream     uint64
		Generation uint64
		Lost       []int
		Cause      *ring.Cause
	}
	// SendResumed confirms to a worker that it is a member as before.
	SendResumed struct{ Stream uint64 }
	// SendStop tells a worker that all workers stop with exit code Code. By is the one rank that a
	// signal told to end, or -1.
	SendStop struct {
		Stream uint64
		Code   int
		By     int
	}
	// SendLeaveAlone allows a worker that asked to leave to leave alone.
	SendLeaveAlone struct{ Stream uint64 }
	// SendNotice sends a worker a text for people.
	SendNotice struct {
		Stream uint64
		Text   string
	}
	// SendRefused ends one worker and no other.
	SendRefused struct {
		Stream   uint64
		Worker   ring.Worker
		Cause    *ring.Cause
		Replaced bool // the worker goes on, on another stream
	}
	// SendAbort tells a worker the first cause of the end of the job.
	SendAbort struct {
		Stream uint64
		Cause  *ring.Cause
	}
	// SendEnd tells a worker that all workers have left.
	SendEnd struct{ Stream uint64 }
	// Probe asks why a rank is missing. Probed is the answer.
	Probe struct {
		JobID string
		Rank  int
		Addr  string
	}
	// RankAbandoned tells the owner of the server that a rank is lost although its process may
	// still run, stopped or cut off.
	RankAbandoned struct{ Rank int }
	// Notify gives the owner of the server a text for people.
	Notify struct{ Text string }
	// SetLease changes the lease. Workers learn the lease from heartbeats.
	SetLease struct{ Lease time.Duration }
	// Finish ends the job. Cause is nil after a clean end.
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
func (Finish) effect()            {}
