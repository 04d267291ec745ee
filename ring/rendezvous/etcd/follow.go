package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// answerTimeout bounds the time to reach one coordinator and to get its answer.
const answerTimeout = 10 * time.Second

// FollowConfig holds the settings of a Follower.
type FollowConfig struct {
	Address        Address
	JobID          string // "": all jobs that have a coordinator
	User, Password string // of etcd; "": none
	Token          token.Token
	Notice         func(string) // called with the reason if one job cannot be asked and another can; may be nil
}

// A Follower reads the status of jobs whose workers meet through etcd. It asks etcd for the
// coordinators, and the coordinators for the status. So it continues with the next coordinator when
// one dies. Its methods are called by one goroutine at a time.
type Follower struct {
	config FollowConfig
	open   func() registry
	dial   func(context.Context, coordinator) (statusClient, error)

	registry registry                     // nil: not open
	clients  map[coordinator]statusClient // the open connections
	notified map[coordinator]struct{}     // coordinators whose last result was a notice
	answered []string                     // jobs that answered last; they may have ended since
}

// registry is the part of keyReader that a Follower uses.
type registry interface {
	coordinators(context.Context) ([]coordinator, error)
	jobEnded(ctx context.Context, jobID string) (bool, error)
	close()
}

// statusClient is the part of rendezvous.StatusClient that a Follower uses.
type statusClient interface {
	Next(context.Context) ([]rendezvous.Status, error)
	Close()
}

// Follow returns a Follower. It sends nothing. The caller must close the Follower.
func Follow(c FollowConfig) (*Follower, error) {
	if err := checkUser(c.User, c.Password); err != nil {
		return nil, err
	}
	open := func() registry {
		return &keyReader{&Cluster{config: Config{Address: c.Address, User: c.User, Password: c.Password}}, c.JobID}
	}
	look := func(ctx context.Context, s coordinator) (statusClient, error) {
		l, err := rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: s.addr, Token: c.Token, JobID: s.jobID})
		if err != nil {
			return nil, err // not a nil *StatusClient in an interface
		}
		return l, nil
	}
	return newFollower(c, open, look), nil
}

func newFollower(c FollowConfig, open func() registry, look func(context.Context, coordinator) (statusClient, error)) *Follower {
	return &Follower{config: c, open: open, dial: look, clients: map[coordinator]statusClient{}, notified: map[coordinator]struct{}{}}
}

// Next returns the status of the jobs, in order of their ids. It returns an error with
// exitcode.Retry if no job answers: etcd is unavailable, has no coordinator, none that answers, or
// too many keys. It takes 15 s at most, and 4 s if etcd is unavailable. The error is
// rendezvous.ErrGone only if etcd shows that the jobs that answered before have ended: the loss of
// a coordinator is no end. While etcd is unavailable, Next asks the known coordinators.
func (f *Follower) Next(ctx context.Context) ([]rendezvous.Status, error) {
	if f.registry == nil {
		f.registry = f.open()
	}
	coordinators, err := f.registry.coordinators(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && len(f.clients) > 0:
		coordinators = slices.Collect(maps.Keys(f.clients))
	case err != nil:
		return nil, exitcode.With(exitcode.Retry, err)
	case len(coordinators) == 0:
		return nil, f.noCoordinator(ctx)
	}
	f.retain(coordinators)
	answers := f.ask(ctx, coordinators)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return f.collect(answers)
}

// Close closes all connections. Next opens new ones.
func (f *Follower) Close() {
	for s, l := range f.clients {
		l.Close()
		delete(f.clients, s)
	}
	if f.registry != nil {
		f.registry.close()
		f.registry = nil
	}
}

// retain closes the connections to former coordinators.
func (f *Follower) retain(coordinators []coordinator) {
	for s, l := range f.clients {
		if !slices.Contains(coordinators, s) {
			l.Close()
			delete(f.clients, s)
		}
	}
	maps.DeleteFunc(f.notified, func(s coordinator, _ struct{}) bool { return !slices.Contains(coordinators, s) })
}

// noCoordinator returns the error if etcd knows no coordinator.
func (f *Follower) noCoordinator(ctx context.Context) error {
	which := "of any job below " + f.config.Address.Prefix
	if f.config.JobID != "" {
		which = "of job " + f.config.JobID
	}
	text := fmt.Sprintf("etcd at %s knows no coordinator %s: ", strings.Join(f.config.Address.Endpoints, ", "), which)
	if f.allEnded(ctx) {
		return exitcode.With(exitcode.Retry, fmt.Errorf("%sended: %w", text, rendezvous.ErrGone))
	}
	return exitcode.With(exitcode.Retry, errors.New(text+"not started yet, or ended"))
}

// allEnded reports whether all jobs that have answered have ended.
func (f *Follower) allEnded(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	for _, id := range f.answered {
		if over, err := f.registry.jobEnded(ctx, id); err != nil || !over {
			return false
		}
	}
	return len(f.answered) > 0
}

// answer is the result of asking one coordinator.
type answer struct {
	coordinator coordinator
	client      statusClient // nil: the connection is broken
	all         []rendezvous.Status
	err         error
}

// ask asks all coordinators at the same time, and keeps the working connections.
func (f *Follower) ask(ctx context.Context, coordinators []coordinator) []answer {
	answers := make([]answer, len(coordinators))
	var wg sync.WaitGroup
	for i, s := range coordinators {
		client := f.clients[s]
		wg.Go(func() { answers[i] = f.askOne(ctx, s, client) })
	}
	wg.Wait()
	for _, a := range answers {
		if a.client == nil {
			delete(f.clients, a.coordinator)
		} else {
			f.clients[a.coordinator] = a.client
		}
	}
	slices.SortFunc(answers, func(a, b answer) int { return cmp.Compare(a.coordinator.jobID, b.coordinator.jobID) })
	return answers
}

// askOne asks over client, or over a new connection if client is nil, for at most answerTimeout.
func (f *Follower) askOne(ctx context.Context, s coordinator, client statusClient) answer {
	late := exitcode.With(exitcode.Retry, fmt.Errorf("rendezvous at %s not reached: %w", s.addr, rendezvous.ErrLate))
	limited, cancel := context.WithTimeoutCause(ctx, answerTimeout, late)
	defer cancel()
	if client == nil {
		var err error
		if client, err = f.connect(ctx, limited, s); err != nil {
			return answer{coordinator: s, err: err}
		}
	}
	all, err := client.Next(limited)
	if err == nil && len(all) == 0 {
		err = exitcode.With(exitcode.Retry, fmt.Errorf("rendezvous at %s has no such job", s.addr))
	}
	if err != nil {
		client.Close()
		return answer{coordinator: s, err: err}
	}
	return answer{coordinator: s, client: client, all: all}
}

// connect opens a connection with context life. limited bounds only the opening.
func (f *Follower) connect(ctx, limited context.Context, s coordinator) (statusClient, error) {
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(limited, func() { end(context.Cause(limited)) })
	defer stop()
	l, err := f.dial(ctx, s)
	if err != nil {
		end(nil)
		return nil, err
	}
	return &connectedClient{l, end}, nil
}

// connectedClient is a statusClient with the cancel function of its context.
type connectedClient struct {
	statusClient
	end context.CancelCauseFunc
}

func (l *connectedClient) Close() {
	l.statusClient.Close()
	l.end(nil)
}

// collect returns the statuses of the coordinators that answered, and gives notice of the others.
// If none answered, it returns the first error.
func (f *Follower) collect(answers []answer) ([]rendezvous.Status, error) {
	var all []rendezvous.Status
	var answered []string
	var first error
	for _, a := range answers {
		if a.err != nil && first == nil {
			first = unanswered(a)
		}
		if a.err == nil {
			all, answered = append(all, a.all...), append(answered, a.coordinator.jobID)
		}
	}
	if len(all) == 0 {
		return nil, first
	}
	f.answered = answered
	for _, a := range answers {
		if _, told := f.notified[a.coordinator]; a.err != nil && !told && f.config.Notice != nil {
			f.config.Notice(unanswered(a).Error())
			f.notified[a.coordinator] = struct{}{}
		}
		if a.err == nil {
			delete(f.notified, a.coordinator)
		}
	}
	return all, nil
}

// unanswered returns why one coordinator did not answer. It does not wrap ErrGone: another
// coordinator is elected.
func unanswered(a answer) error {
	err := fmt.Errorf("coordinator of job %q: %w", a.coordinator.jobID, a.err)
	if errors.Is(err, rendezvous.ErrGone) {
		return exitcode.With(exitcode.Of(err), errors.New(err.Error()+"; if it does not return, another coordinator is elected"))
	}
	return err
}
