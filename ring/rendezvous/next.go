package rendezvous

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/internal/awake"
	pb "ringtrain/ring/ringpb"
)

// Outcome reports c, if it is not nil, and waits until it is known what has ended. It returns nil
// if only the generation has ended: the worker then leaves its group and calls Next. If the job has
// ended, Outcome returns the first cause as an error with its exit code. c is nil if the context of
// the generation has ended, or if another worker leaves alone, of which the rendezvous hears by
// this call.
func (s *Session) Outcome(ctx context.Context, c *ring.Cause) error {
	g := s.current()
	switch {
	case c != nil:
		s.reportCause(c)
	case g.ctx.Err() == nil:
		s.sendUntilAcked(s.partedMessage(g))
	}
	timer := awake.NewTimer(s.outcomeTimeout(c))
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
			if c == nil {
				c = s.lostCause("no answer after the end of the generation")
			}
			s.end(c, false, false)
			return c.WithCode()
		}
	}
}

// outcomeTimeout returns how long Outcome waits for an answer of a rendezvous that is connected.
func (s *Session) outcomeTimeout(c *ring.Cause) time.Duration {
	switch {
	case c == nil || s.durable:
		return s.options.StartTimeout + s.Lease()
	case s.recovers:
		return s.Lease()
	}
	return abortTimeout
}

// Next reports that this worker has left its group, and waits for the next generation. Membership,
// Lost and Context are then those of the next generation. If the job ends instead, Next returns the
// first cause, as Outcome does.
func (s *Session) Next(ctx context.Context) error {
	old := s.current()
	if old.printsEnd() {
		s.notify(fmt.Sprintf("generation %d has ended: %v", old.membership.Generation, old.cause))
	}
	g := s.nextGeneration()
	s.sendUntilAcked(s.readyMessage(old))
	a := newAttempts(s.options, s.options.StartTimeout)
	defer a.clock.Stop()
	err := a.await(ctx, s, g)
	if err == errLost {
		return s.cause.WithCode()
	}
	return err
}

// printsEnd reports whether this worker tells people the end of g: it has the lowest rank that is
// not lost.
func (g *generation) printsEnd() bool {
	for rank := range g.membership.Rank {
		if !slices.Contains(g.lost, rank) {
			return false
		}
	}
	return true
}

func (s *Session) readyMessage(g *generation) *pb.WorkerMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &pb.Ready{Generation: g.membership.Generation, Step: s.step}
	return &pb.WorkerMessage{What: &pb.WorkerMessage_Ready{Ready: r}}
}

func (s *Session) partedMessage(g *generation) *pb.WorkerMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &pb.Parted{Generation: g.membership.Generation, Step: s.step}
	return &pb.WorkerMessage{What: &pb.WorkerMessage_Parted{Parted: p}}
}

// nextGeneration makes the awaited generation the current one. If the session has ended meanwhile,
// the generation has ended too.
func (s *Session) nextGeneration() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waitSource.Store(nil)
	s.generation = newGeneration(context.WithoutCancel(s.ctx))
	if s.endErr != nil {
		s.generation.cancel(s.endErr)
	}
	return s.generation
}
