package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
)

// waitingNoticeEvery is the time between two notices about the hosts that the start waits
// for.
const waitingNoticeEvery = 5 * time.Second

// hostStartup prepares other hosts.
type hostStartup struct {
	*launcher
	waiting map[int]bool    // hosts that have not answered, by index
	results chan dialResult // has room for all results
	errs    []error
	stopped error // error of a signal, or of a host that is lost or violates the protocol after its answer
}

// dialResult is the result of a login.
type dialResult struct {
	target target
	login  *login
	err    error
}

// openRemote opens the hosts of targets. Its error names all hosts that cannot be reached.
// A signal that asks to end stops it, as do the end of ctx and the loss of a host that had
// answered.
func (l *launcher) openRemote(ctx context.Context, targets []target) error {
	d, err := l.dialer()
	if err != nil {
		return err
	}
	o := &hostStartup{launcher: l, waiting: map[int]bool{}, results: make(chan dialResult, len(targets))}
	ctx, cancel := withAnswerTimeout(ctx, l.config.StartTimeout)
	defer cancel()
	for _, t := range targets {
		o.waiting[t.host] = true
		go func() {
			g, err := d.open(ctx, t)
			o.results <- dialResult{t, g, err}
		}()
	}
	o.wait(cancel)
	return cmp.Or(o.stopped, errors.Join(o.errs...))
}

// wait returns when all hosts have answered or failed.
func (h *hostStartup) wait(cancel func()) {
	since, told, signals := time.Now(), time.NewTicker(waitingNoticeEvery), h.config.Signals
	defer told.Stop()
	for len(h.waiting) > 0 {
		select {
		case r := <-h.results:
			delete(h.waiting, r.target.host)
			switch {
			case r.err == nil:
				h.addLogin(r.login)
			case errors.Is(r.err, errNotTried): // the last line is a cause
				h.errs = slices.Insert(h.errs, 0, error(&hostError{r.target.host, r.err}))
			default:
				h.errs = append(h.errs, &hostError{r.target.host, r.err})
			}
		case e := <-h.events: // no rank runs yet: an open host is lost
			if h.stopped == nil {
				h.stopped = h.earlyEvent(e)
				cancel()
			}
		case s, ok := <-signals:
			if sig, is := s.(syscall.Signal); is && asksToEnd(sig) {
				h.stopped = exitcode.With(128+int(sig), fmt.Errorf("stopped by %s before all hosts had answered", process.SignalText(sig)))
				cancel()
			}
			if s == syscall.SIGTSTP || s == syscall.SIGCONT {
				h.handleSignal(s.(syscall.Signal))
			}
			if !ok {
				signals = nil
			}
			h.suspend(signals)
		case <-told.C:
			h.config.tell(waitingText(h.config.Hosts, h.waiting, time.Since(since)))
		}
	}
}

// earlyEvent returns the error of an event before any rank runs.
func (h *hostStartup) earlyEvent(e event) error {
	if e.loss == nil {
		host := h.config.Hosts[h.assignments[e.Rank].Host].Name
		return exitcode.With(exitcode.Protocol, fmt.Errorf("host %s: agent tells of rank %d, which was not started yet", host, e.Rank))
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("host %s is lost: %s", e.loss.login.target.name, e.loss.why))
}

// hostError is the error of a host that cannot run ranks.
type hostError struct {
	host int // index in Config.Hosts
	err  error
}

func (e *hostError) Error() string { return e.err.Error() }
func (e *hostError) Unwrap() error { return e.err }

// FailedHosts returns the hosts on which an error of [Run] says that no rank could start, as
// indices of Config.Hosts. There are none if the error has another cause.
func FailedHosts(err error) []int {
	switch e := err.(type) {
	case *hostError:
		return []int{e.host}
	case interface{ Unwrap() []error }:
		var all []int
		for _, part := range e.Unwrap() {
			all = append(all, FailedHosts(part)...)
		}
		return all
	case interface{ Unwrap() error }:
		return FailedHosts(e.Unwrap())
	}
	return nil
}

// addLogin adds the host of a login, and handles the messages of the login from now on.
func (l *launcher) addLogin(g *login) {
	l.logins = append(l.logins, g)
	t := g.target
	l.hosts[t.host] = &remoteHost{g}
	l.config.tell(g.hello.Notice)
	go g.receive(newReceiver(l, g))
}

// waitingText names the hosts that have not answered.
func waitingText(list []hosts.Host, waiting map[int]bool, d time.Duration) string {
	var late []hosts.Host
	for i, h := range list {
		if waiting[i] {
			late = append(late, h)
		}
	}
	return fmt.Sprintf("waiting for %s to answer by ssh for %v: %s", phrase.Count(len(late), "host"), d.Round(time.Second), hosts.Summary(late))
}
