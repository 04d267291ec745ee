package join

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/token"
)

// Options says how Join joins a worker to its job. The zero Options are those of a program
// that a launcher has started.
type Options struct {
	// Place is the worker's place. Nil: Join finds it by the environment and, under MPICH's
	// mpiexec, by mpiexec.
	Place *place.Place

	// Config is what the worker brings besides its place. Fields of Group that are
	// zero mean those of ring.DefaultConfig, a zero Token that of this user (token.Find).
	Config Config
}

// closeTimeout bounds the wait of Group.Close for the other workers to close theirs.
const closeTimeout = 30 * time.Second

// Join finds the other workers of the job and returns the group that they form. The group is
// of one generation: it fails if a worker is lost. ctx bounds the meeting only.
//
// Group.Close leaves the job: it waits until all workers have closed their groups, for 30 s
// at most, and then releases the links, the port and the session with the rendezvous. After
// an operation has failed, Close does not wait: it reports the failure, which ends the job for
// all. Close returns the first cause of the job's end if that was no good end.
//
// The errors are those of [Meet]. A program that is to survive the loss of workers calls
// Meet itself. A process that its launcher needs for nothing (a parameter server of
// TF_CONFIG) gets exitcode.Usage.
func Join(ctx context.Context, o Options) (*ring.Group, error) {
	p, err := o.findPlace(ctx)
	if err != nil {
		return nil, err
	}
	c := o.Config
	usual := ring.DefaultConfig()
	c.Group.SegmentElements = cmp.Or(c.Group.SegmentElements, usual.SegmentElements)
	c.Group.OpTimeout = cmp.Or(c.Group.OpTimeout, usual.OpTimeout)
	if !c.Token.Set() {
		if c.Token, err = token.Find(os.Getenv); err != nil {
			return nil, err
		}
	}
	t, err := Meet(ctx, p, c)
	if err != nil {
		return nil, err
	}
	t.Group.OnClose(t.endSession, t.release)
	return t.Group, nil
}

// findPlace returns the place that is given, or else the one of this process.
func (o Options) findPlace(ctx context.Context) (place.Place, error) {
	if o.Place != nil {
		return *o.Place, nil
	}
	p, err := place.Find(os.Getenv, os.Environ(), place.Flags{Rank: -1})
	if err == nil && p.NotNeeded != "" {
		err = exitcode.With(exitcode.Usage, errors.New(p.NotNeeded))
	}
	if err != nil {
		return p, err
	}
	return p.Learn(ctx, place.LearnOptions{Timeout: o.Config.StartTimeout, Notice: o.Config.Notice})
}

// endSession leaves the job, within closeTimeout. If the group has failed, endSession reports the
// failure instead: the other workers must not take this one for finished, and their groups will
// not close in good order. The error has the exit code of the job's first cause.
func (t *Team) endSession(failure error) error {
	if failure != nil {
		m := t.Group.Membership()
		return t.Abort(ring.CauseOf(failure, m.Rank, m.Self().Host, -1)).WithCode()
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), closeTimeout,
		fmt.Errorf("not all workers have closed their groups within %v", closeTimeout))
	defer cancel()
	return t.Leave(ctx)
}
