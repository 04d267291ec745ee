package join

import (
	"context"
	"net"

	"ringtrain/ring"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
)

// Participants is this worker among the others, without links between them, for a program
// that wants to know which links are possible. Its methods may be called from several
// goroutines.
type Participants struct {
	members  ring.Membership
	session  session
	endpoint *endpoint // nil for world size 1
}

// Gather finds the other workers of the job, as [Meet] does, and stops there: it opens the
// port, serves the rendezvous if the place says so, and joins. It ignores the fields of c
// that concern links and groups. The errors are those of Meet.
func Gather(ctx context.Context, p place.Place, c Config) (*Participants, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if p.WorldSize == 1 && p.Rendezvous == "" {
		m := ring.Membership{JobID: p.JobID, Generation: 1, Workers: []ring.Worker{rendezvous.Self("")}, Choices: rendezvous.ChooseAlone(c.Offers)}
		return &Participants{members: m, session: newSoloSession(ctx)}, nil
	}
	h, s, err := joinRendezvous(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return &Participants{members: s.Membership(), session: s, endpoint: h}, nil
}

// Membership returns the workers that have joined.
func (g *Participants) Membership() ring.Membership { return g.members }

// Links returns the listener for links on this worker's port, nil for world size 1.
func (g *Participants) Links() net.Listener {
	if g.endpoint == nil {
		return nil
	}
	return g.endpoint.port.Links()
}

// Context ends when a worker is lost. Its cause names the worker and has the exit code.
func (g *Participants) Context() context.Context { return g.session.Context() }

// Leave returns when all workers have left.
func (g *Participants) Leave(ctx context.Context) error { return g.session.Leave(ctx) }

// Close releases everything, as [Team.Close] does.
func (g *Participants) Close() error {
	err := g.session.Close()
	if g.endpoint != nil {
		g.endpoint.close()
	}
	return err
}
