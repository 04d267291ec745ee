package join

import (
	"ringtrain/ring"
	"ringtrain/ring/rendezvous"
)

// The methods that launch.Run needs of a rendezvous.

// Started reports that a process is started for a rank.
func (a *Standalone) Started(rank int) { a.Server.Started(rank) }

// Lost reports that a rank's process is gone, and the exit code for the others.
func (a *Standalone) Lost(rank int, text string, code int) rendezvous.Verdict {
	return a.Server.Lost(rank, text, code)
}

// RestartsLeft is how many more ranks may be started again.
func (a *Standalone) RestartsLeft() int { return a.Server.RestartsLeft() }

// GaveUp says why the job was given up, if it was.
func (a *Standalone) GaveUp() rendezvous.GaveUp { return a.Server.GaveUp() }

// LostForGood is Lost of a rank that is not started again.
func (a *Standalone) LostForGood(rank int, text string, code int) {
	a.Server.LostForGood(rank, text, code)
}

// Cause returns the first cause of the job's end, or nil.
func (a *Standalone) Cause() *ring.Cause { return a.Server.Cause() }

// Stopped says whom a signal has told to end, if the job has stopped for it.
func (a *Standalone) Stopped() *ring.Cause { return a.Server.Stopped() }

// Refused returns why a worker of a rank was refused alone, which was process pid or of
// its group and has ended with code; "" if it was not.
func (a *Standalone) Refused(rank, pid, code int) string { return a.refusals.of(rank, pid, code) }

// Begun tells whether all workers have met.
func (a *Standalone) Begun() bool {
	a.hub.audience.mu.Lock()
	defer a.hub.audience.mu.Unlock()
	return a.hub.audience.begun
}

// GivenUp yields the ranks that count as lost while their processes seem to live.
func (a *Standalone) GivenUp() <-chan int { return a.given }

// StopAll has all workers stop at one agreed step and end with code.
func (a *Standalone) StopAll(code int) { a.Server.StopAll(code) }

// Done is Server's.
func (a *Standalone) Done() <-chan struct{} { return a.Server.Done() }
