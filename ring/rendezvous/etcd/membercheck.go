package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/rendezvous/state"
)

// Bounds of a check of the members.
const (
	memberTimeout  = 1500 * time.Millisecond // for the members to answer
	maxAsked       = 64                      // members, drawn anew each time; in a running job nearly all answer
	defaultSilence = 15 * time.Second        // without Config.Silence
)

// mayCampaign returns the conditions under which a fresh worker becomes the coordinator: the
// journal has not changed. It returns an error if the job goes on without a coordinator's key, or
// may: the coordinator may only have lost etcd.
func (c *Cluster) mayCampaign(ctx context.Context) ([]clientv3.Cmp, error) {
	asking, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	records, first, err := c.records(asking, c.keys)
	if err != nil {
		return nil, err
	}
	if err := c.members.check(ctx, lastMembers(records)); err != nil {
		return nil, err
	}
	return []clientv3.Cmp{
		clientv3.Compare(clientv3.CreateRevision(c.keys.entry(1)), "=", first),
		clientv3.Compare(clientv3.CreateRevision(c.keys.entry(len(records)+1)), "=", 0),
	}, nil
}

// lastMembers returns the workers of the last generation of a job that has not ended.
func lastMembers(records []state.Record) []ring.Worker {
	var last []ring.Worker
	for _, r := range records {
		switch r := r.(type) {
		case state.GenerationRecord:
			last = r.Workers
		case state.EndRecord:
			last = nil
		}
	}
	return last
}

// memberCheck asks the members of a job whether it goes on. Several goroutines may call check.
type memberCheck struct {
	jobID    string
	isMember func(context.Context, ring.Worker) (bool, error)
	limit    time.Duration // how long the members may be silent

	mu          sync.Mutex // guards what follows
	silentSince time.Time  // start of the time without any answer; zero: a member answered
}

func newMemberCheck(c Config) *memberCheck {
	return &memberCheck{
		jobID: c.JobID, limit: cmp.Or(c.Silence, defaultSilence),
		isMember: func(ctx context.Context, w ring.Worker) (bool, error) {
			return rendezvous.IsMember(ctx, w, rendezvous.StatusOptions{Token: c.Token, JobID: c.JobID})
		},
	}
}

// memberAnswer is the result of asking one member.
type memberAnswer struct {
	worker ring.Worker
	member bool
	err    error // no answer with a valid proof
}

// gone reports whether the worker is known not to be a member any more: nobody listens, or a worker
// with the token is no member.
func (p memberAnswer) gone() bool {
	return p.err == nil && !p.member || errors.Is(p.err, rendezvous.ErrGone)
}

// check returns an error while a fresh worker must not campaign: a member answers, or may yet. A
// member that is stopped or cut off may answer later, so check waits for the limit, from the first
// call on. After that, or if all members are gone, it returns nil.
func (c *memberCheck) check(ctx context.Context, members []ring.Worker) error {
	members = sample(members)
	silent, member := c.ask(ctx, members)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case member != nil:
		c.silentSince = time.Time{}
		return fmt.Errorf("job %s goes on: rank %d at %s answers, and only its own workers elect a coordinator", c.jobID, member.Rank, member.Addr)
	case silent == 0:
		return nil
	case c.silentSince.IsZero():
		c.silentSince = time.Now()
	}
	left := c.limit - time.Since(c.silentSince)
	if left <= 0 {
		return nil
	}
	return fmt.Errorf("job %s may go on: %d of %d ranks are silent; without an answer it is taken over in %d s", c.jobID, silent, len(members), int64((left+time.Second-1)/time.Second))
}

// ask asks all members at the same time. It returns the first one that answers as a member, or the
// number of members that may yet answer.
func (c *memberCheck) ask(ctx context.Context, members []ring.Worker) (silent int, member *ring.Worker) {
	ctx, cancel := context.WithTimeout(ctx, memberTimeout)
	answers := make(chan memberAnswer)
	var calling sync.WaitGroup
	defer calling.Wait()
	defer cancel()
	for _, w := range members {
		calling.Go(func() {
			p := memberAnswer{worker: w}
			p.member, p.err = c.isMember(ctx, w)
			select {
			case answers <- p:
			case <-ctx.Done():
			}
		})
	}
	for range members {
		select {
		case p := <-answers:
			if p.member {
				return 0, &p.worker
			}
			if p.gone() {
				silent--
			}
		case <-ctx.Done():
		}
	}
	return silent + len(members), nil
}

// sample draws as many members as are asked at a time.
func sample(members []ring.Worker) []ring.Worker {
	if len(members) <= maxAsked {
		return members
	}
	some := make([]ring.Worker, maxAsked)
	for i, j := range rand.Perm(len(members))[:maxAsked] {
		some[i] = members[j]
	}
	return some
}
