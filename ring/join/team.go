package join

import (
	"context"
	"errors"
	"sync/atomic"

	"ringtrain/ring"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous"
)

// Team is this worker among the others of its job: the group that they form, and the
// session with the rendezvous. Its methods may be called from several goroutines.
type Team struct {
	Group      *ring.Group // nil after Gather
	Rendezvous string      // address of the rendezvous, "" for world size 1
	Link       string      // shm, tcp, shm+tcp, or none for world size 1

	Lost  []int       // ranks that the previous generation has lost
	Cause *ring.Cause // of the previous generation's end; nil in the first generation

	config     Config
	members    ring.Membership
	generation context.Context // the generation's
	session    session
	self       ring.Worker         // this worker, as the others know it
	member     *rendezvous.Session // the session, if the world size is more than 1; else nil
	port       *port.Port          // nil for world size 1
	server     *rendezvous.Server  // on port; nil if the rendezvous is elsewhere
	memory     ring.Memory         // memory without a group: the links could not be opened; nil: none

	stopCode   atomic.Int32 // exit code that a team of one is to stop with
	superseded atomic.Bool  // the team of the next generation owns the session and the port
}

// begin begins a generation of m.
func (t *Team) begin(m ring.Membership) {
	t.members, t.generation = m, t.session.Context()
	if t.member != nil {
		t.Lost, t.Cause = t.member.Lost()
	}
}

// session is a worker's part in a generation: a *rendezvous.Session or a soloSession.
type session interface {
	Context() context.Context
	Progress(step int64, phase string)
	Abort(*ring.Cause) *ring.Cause
	Leave(context.Context) error
	Close() error
}

// Membership returns the workers of the generation.
func (t *Team) Membership() ring.Membership { return t.members }

// Links returns the connections for links at this worker's port, nil for world size 1.
func (t *Team) Links() *port.Queue {
	if t.port == nil {
		return nil
	}
	return t.port.Links()
}

// Context ends when the generation ends. Its cause wraps ring.ErrGenerationEnded and the
// first *ring.Cause, and has the exit code. After a good end the context lasts until Close.
func (t *Team) Context() context.Context { return t.generation }

// Progress reports this worker's step and phase to the rendezvous. It never blocks.
func (t *Team) Progress(step int64, phase string) { t.session.Progress(step, phase) }

// Abort tells all workers the cause of a fault here. It returns the first cause of the end
// of the job or of the generation, which may be another, after a second at most. A worker
// that may go on calls Next instead.
func (t *Team) Abort(c *ring.Cause) *ring.Cause { return t.session.Abort(c) }

// Leave ends the job in good order: it returns when all workers have left. If a worker
// fails to leave, Leave returns the first cause.
func (t *Team) Leave(ctx context.Context) error { return t.session.Leave(ctx) }

// Close releases everything and ends all goroutines. Without Leave or Abort before it, the
// others count this worker as lost. A worker that serves the rendezvous first tells the
// others the end, for two seconds at most. Close may be called more than once. After Next
// it does nothing.
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
	t.closePort()
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

// soloSession is the session of the only worker of a job.
type soloSession struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	report func(*ring.Cause) *ring.Cause // tells the launcher; nil: there is none
}

func newSoloSession(ctx context.Context) *soloSession {
	s := new(soloSession)
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return s
}

func (s *soloSession) Context() context.Context { return s.ctx }

func (s *soloSession) Progress(int64, string) {}

func (s *soloSession) Abort(c *ring.Cause) *ring.Cause {
	s.cancel(c.GenerationEnded())
	if first, ok := errors.AsType[*ring.Cause](context.Cause(s.ctx)); ok {
		c = first // else the session is closed
	}
	if s.report != nil {
		c = s.report(c)
	}
	return c
}

func (s *soloSession) Leave(context.Context) error { return context.Cause(s.ctx) }

func (s *soloSession) Close() error {
	s.cancel(ring.ErrGenerationEnded)
	return nil
}
