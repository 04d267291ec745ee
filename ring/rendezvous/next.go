package rendezvous

import (
	"context"
	"fmt"
	"slices"

	"ringtrain/ring"
	"ringtrain/ring/internal/awake"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// Outcome reports c, if it is not nil, and waits until it is known what has ended. It returns nil
// if only the generation has ended: the worker then leaves its group and calls Next. If the job has
// ended, Outcome returns the first cause as an error with its exit code. c is nil if the context of
// the generation has ended. A rendezvous that is not reached may come back: Outcome waits for it for
// the start timeout.
func (s *Session) Outcome(ctx context.Context, c *ring.Cause) error {
	g := s.current()
	if c != nil {
		s.reportCause(c)
	}
	timer := awake.NewTimer(s.options.StartTimeout + s.Lease())
	defer timer.Stop()
	for done := ctx.Done(); ; {
		select {
		case <-g.ended:
			return context.Cause(ctx)
		case <-s.over:
			if c == nil && s.cause != nil {
				return s.cause.WithCode()
			}
			return s.firstCause(c).WithCode()
		case <-done:
			if c == nil {
				return context.Cause(ctx)
			}
			done = nil // the other workers hear of c first
			timer.Reset(abortTimeout)
		case <-timer.C:
			return s.giveUp(c).WithCode()
		}
	}
}

// giveUp ends the session because the rendezvous did not answer in time. c is what this worker has
// reported, or nil. The cause names the first failure, too.
func (s *Session) giveUp(c *ring.Cause) *ring.Cause {
	s.control.mu.Lock()
	reason := s.control.lastError.reason
	s.control.mu.Unlock()
	if s.control.reached(s.Lease()) {
		reason = "no answer after the end of the generation"
	}
	lost := s.lostCause(fmt.Sprintf("%s (waited %d s)", reason, int64(s.options.StartTimeout.Seconds())))
	if known, _ := s.known(); c == nil {
		c = known.Cause
	}
	if c != nil {
		lost.Text += "; the generation ended by: " + c.Error()
	}
	s.end(lost, false, false)
	return lost
}

// Next reports that this worker has left its group, and waits for the next generation. Membership,
// Lost and Context are then those of the next generation. If the job ends instead, Next returns the
// first cause, as Outcome does.
func (s *Session) Next(ctx context.Context) error {
	old := s.current()
	if old.printsEnd() {
		s.options.notify(fmt.Sprintf("generation %d has ended: %v", old.membership.Generation, old.cause))
	}
	s.mu.Lock()
	g := newGeneration(context.WithoutCancel(s.ctx))
	s.waitSource.Store(nil)
	s.generation, s.doing, s.suspicion = g, state.OutOfGroup, nil
	if s.endErr != nil { // the session has ended meanwhile
		g.cancel(s.endErr)
	}
	r := &pb.Ready{Generation: old.membership.Generation, Step: s.step}
	s.control.enqueue(&pb.WorkerMessage{What: &pb.WorkerMessage_Ready{Ready: r}})
	s.mu.Unlock()
	a := newAttempts(s.options, s.options.StartTimeout)
	defer a.clock.Stop()
	err := a.await(ctx, s, g)
	if err == errLost {
		return s.cause.WithCode()
	}
	return err
}

// printsEnd reports whether this worker tells people the end of g: it has the lowest rank that is
// not lost. An end that all have agreed on needs no line.
func (g *generation) printsEnd() bool {
	for rank := range g.membership.Rank {
		if !slices.Contains(g.lost, rank) {
			return false
		}
	}
	return g.cause.Operation != ring.OpKeys
}
