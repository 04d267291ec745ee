package join

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// Team is this worker among the others of its job: the group that they form
// and the session with the rendezvous that watches over it. Its methods may be
// called from several goroutines.
type Team struct {
	Group      *ring.Group
	Rendezvous string // its address, "" for world size 1
	Link       string // shm, tcp, grpc, shm+tcp, shm+grpc, or none for world size 1

	Lost  []int       // ranks that the generation before this one has lost
	Cause *ring.Cause // of that one's end; nil in the first

	config     Config
	generation context.Context // the generation's
	session    session
	member     *rendezvous.Session // the session of a team of more than one; nil else
	endpoint   *endpoint           // nil for a team of one
	memory     ring.Memory         // nil, unless the links to go with it failed to open

	stopCode   atomic.Int32 // code that the only worker is to stop with
	superseded atomic.Bool  // the team of the next generation owns everything
}

// newTeam completes t with what its session says of the generation.
func newTeam(t *Team) *Team {
	t.generation = t.session.Context()
	if t.member != nil {
		t.Lost, t.Cause = t.member.Lost()
	}
	return t
}

// session is a worker's part in a generation: a *rendezvous.Session, or a solo.
type session interface {
	Context() context.Context
	Progress(step int64, phase string)
	Abort(*ring.Cause) *ring.Cause
	Leave(context.Context) error
	Close() error
}

// Context ends when the generation ends. Its cause wraps ring.ErrGenerationEnded
// and the first *ring.Cause, and carries the exit code. After a clean end it
// lasts until Close.
func (t *Team) Context() context.Context { return t.generation }

// Progress tells the rendezvous how far this worker is. It never blocks.
func (t *Team) Progress(step int64, phase string) { t.session.Progress(step, phase) }

// Abort tells all workers what went wrong here and returns the first cause of
// the job's end, or of the generation's, which may be another. It takes a second
// at most. Who may go on calls Next instead.
func (t *Team) Abort(c *ring.Cause) *ring.Cause { return t.session.Abort(c) }

// Leave ends the job in good order: it returns when all workers have left, or
// with the first cause if one of them did not make it.
func (t *Team) Leave(ctx context.Context) error { return t.session.Leave(ctx) }

// Close releases everything; no goroutine is left. Without Leave or Abort
// before it the others lose this worker. One that serves the rendezvous first
// lets the others hear the end, for two seconds at most. Close may be called
// more than once. After Next it does nothing.
func (t *Team) Close() error {
	if t.superseded.Load() {
		return nil
	}
	err := t.closeGroup()
	t.release()
	return err
}

// release ends the session and closes the port.
func (t *Team) release() error {
	t.session.Close()
	if t.endpoint != nil {
		t.endpoint.close()
	}
	return nil
}

// closeGroup releases what belongs to the generation.
func (t *Team) closeGroup() error {
	var err error
	if t.Group != nil {
		err = t.Group.Close()
	}
	if t.memory != nil {
		err = t.memory.Close()
	}
	return err
}

// solo is the session of a worker that is alone: there is nobody to tell.
type soloSession struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newSoloSession(ctx context.Context) *soloSession {
	s := new(soloSession)
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return s
}

func (s *soloSession) Context() context.Context { return s.ctx }

func (s *soloSession) Progress(int64, string) {}

func (s *soloSession) Abort(c *ring.Cause) *ring.Cause {
	s.cancel(exitcode.With(c.ExitCode, fmt.Errorf("%w: %w", ring.ErrGenerationEnded, c)))
	if first, ok := errors.AsType[*ring.Cause](context.Cause(s.ctx)); ok {
		return first
	}
	return c // too late: closed
}

func (s *soloSession) Leave(context.Context) error { return context.Cause(s.ctx) }

func (s *soloSession) Close() error {
	s.cancel(ring.ErrGenerationEnded)
	return nil
}

// causeError is c as an error with its exit code.
func causeError(c *ring.Cause) error { return exitcode.With(c.ExitCode, c) }
