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
	// Record is what the worker keeps from now on, without what only the worker knows.
	SendMembership struct {
		Stream     uint64
		Membership ring.Membership
		Record     Record
		Lost       []int
		Cause      *ring.Cause
	}
	// SendEndGeneration ends the generation of a worker, but not the job. Lost are the ranks that it
	// has lost and Incarnations their processes. First is the first cause since the last completed
	// step.
	SendEndGeneration struct {
		Stream       uint64
		Fence        ring.Fence
		Lost         []int
		Incarnations []uint64
		Cause        *ring.Cause
		First        *ring.Cause
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
	// Probe asks why a rank is missing, or with an Incarnation whether that member still listens.
	// Probed is the answer.
	Probe struct {
		JobID       string
		Rank        int
		Addr        string
		Incarnation uint64
	}
	// CloseStream ends a stream without a last message: the worker dials again.
	CloseStream struct{ Stream uint64 }
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
func (SendNotice) effect()        {}
func (SendRefused) effect()       {}
func (SendAbort) effect()         {}
func (SendEnd) effect()           {}
func (Probe) effect()             {}
func (CloseStream) effect()       {}
func (RankAbandoned) effect()     {}
func (Notify) effect()            {}
func (SetLease) effect()          {}
func (Finish) effect()            {}
