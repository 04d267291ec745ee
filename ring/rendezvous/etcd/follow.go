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

// answerTime is for one coordinator to be reached and to answer.
const answerTimeout = 10 * time.Second

// FollowConfig says at which jobs to look.
type FollowConfig struct {
	Address        Address
	JobID          string // "": all jobs that have a coordinator
	User, Password string // of etcd; "": none
	Token          token.Token
	Notice         func(string) // told of a job that cannot be asked while another can; may be nil
}

// A Follower looks on at jobs whose workers meet on etcd: it asks etcd who their
// coordinators are, and these where the jobs stand. So it goes on with the next
// coordinator when one dies. Its methods are called by one goroutine at a time.
type Follower struct {
	config FollowConfig
	open   func() registry
	dial   func(context.Context, coordinator) (statusClient, error)

	registry registry                     // nil: to be opened
	clients  map[coordinator]statusClient // nil: to be reached
	notified map[coordinator]struct{}     // of whom the last word was a notice
	answered []string                     // the jobs that answered last, which may have ended since
}

// registry is what a Follower needs of a register.
type registry interface {
	coordinators(context.Context) ([]coordinator, error)
	jobEnded(ctx context.Context, jobID string) (bool, error)
	close()
}

// looker is what it needs of a rendezvous.StatusClient.
type statusClient interface {
	Next(context.Context) ([]rendezvous.Status, error)
	Close()
}

// Follow makes a Follower, which must be closed. Nothing is asked yet.
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
			return nil, err // and no typed nil
		}
		return l, nil
	}
	return newFollower(c, open, look), nil
}

func newFollower(c FollowConfig, open func() registry, look func(context.Context, coordinator) (statusClient, error)) *Follower {
	return &Follower{config: c, open: open, dial: look, clients: map[coordinator]statusClient{}, notified: map[coordinator]struct{}{}}
}

// Next returns where the jobs stand now, in order of their ids. Without an answer
// it is exitcode.Retry, after 15 s at most, and 4 s where etcd is away: etcd is away,
// has no coordinator, none that answers, or too many keys to find all. It is rendezvous.ErrGone only where etcd says that the jobs
// which answered before have ended: what becomes of one coordinator is not the end.
// While etcd is away those that are known go on to be asked.
func (f *Follower) Next(ctx context.Context) ([]rendezvous.Status, error) {
	if f.registry == nil {
		f.registry = f.open()
	}
	seats, err := f.registry.coordinators(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && len(f.clients) > 0:
		seats = slices.Collect(maps.Keys(f.clients))
	case err != nil:
		return nil, exitcode.With(exitcode.Retry, err)
	case len(seats) == 0:
		return nil, f.noCoordinator(ctx)
	}
	f.retain(seats)
	answers := f.ask(ctx, seats)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return f.collect(answers)
}

// Close ends all connections; Next makes them anew.
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

// keep forgets those who are in office no more.
func (f *Follower) retain(seats []coordinator) {
	for s, l := range f.clients {
		if !slices.Contains(seats, s) {
			l.Close()
			delete(f.clients, s)
		}
	}
	maps.DeleteFunc(f.notified, func(s coordinator, _ struct{}) bool { return !slices.Contains(seats, s) })
}

// nobody is why no job can be asked, where no coordinator is known.
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

// ended tells whether all jobs that have answered are known to have ended.
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

// answer is what came of asking one coordinator.
type answer struct {
	coordinator coordinator
	client      statusClient // nil: broken
	all         []rendezvous.Status
	err         error
}

// ask asks all at the same time, and keeps the connections that hold.
func (f *Follower) ask(ctx context.Context, seats []coordinator) []answer {
	answers := make([]answer, len(seats))
	var wg sync.WaitGroup
	for i, s := range seats {
		link := f.clients[s]
		wg.Go(func() { answers[i] = f.askOne(ctx, s, link) })
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

// askOne asks over link, or over a new one if that is nil, for answerTime.
func (f *Follower) askOne(ctx context.Context, s coordinator, link statusClient) answer {
	late := exitcode.With(exitcode.Retry, fmt.Errorf("rendezvous at %s not reached: %w", s.addr, rendezvous.ErrLate))
	limited, cancel := context.WithTimeoutCause(ctx, answerTimeout, late)
	defer cancel()
	if link == nil {
		var err error
		if link, err = f.connect(ctx, limited, s); err != nil {
			return answer{coordinator: s, err: err}
		}
	}
	all, err := link.Next(limited)
	if err == nil && len(all) == 0 {
		err = exitcode.With(exitcode.Retry, fmt.Errorf("rendezvous at %s has no such job", s.addr))
	}
	if err != nil {
		link.Close()
		return answer{coordinator: s, err: err}
	}
	return answer{coordinator: s, client: link, all: all}
}

// reach makes a connection that lives on life; limited bounds only the making.
func (f *Follower) connect(life, limited context.Context, s coordinator) (statusClient, error) {
	life, end := context.WithCancelCause(life)
	stop := context.AfterFunc(limited, func() { end(context.Cause(limited)) })
	defer stop()
	l, err := f.dial(life, s)
	if err != nil {
		end(nil)
		return nil, err
	}
	return &connectedClient{l, end}, nil
}

// reached is a looker with the end of the context on which it lives.
type connectedClient struct {
	statusClient
	end context.CancelCauseFunc
}

func (l *connectedClient) Close() {
	l.statusClient.Close()
	l.end(nil)
}

// sift returns what was answered, and tells of those who did not answer; if nobody
// did, that is the error.
func (f *Follower) collect(answers []answer) ([]rendezvous.Status, error) {
	var all []rendezvous.Status
	var seen []string
	var first error
	for _, a := range answers {
		if a.err != nil && first == nil {
			first = unanswered(a)
		}
		if a.err == nil {
			all, seen = append(all, a.all...), append(seen, a.coordinator.jobID)
		}
	}
	if len(all) == 0 {
		return nil, first
	}
	f.answered = seen
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

// unanswered is why one coordinator did not answer. That it is gone is not told as
// such: another one is elected then.
func unanswered(a answer) error {
	err := fmt.Errorf("coordinator of job %q: %w", a.coordinator.jobID, a.err)
	if errors.Is(err, rendezvous.ErrGone) {
		return exitcode.With(exitcode.Of(err), errors.New(err.Error()+"; if it does not return, another is elected"))
	}
	return err
}
