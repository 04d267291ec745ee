package launch

import (
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

// hostStartup prepares other hosts. The launcher logs in to the first host of each branch,
// and the agent there to the others of the branch. The launcher itself logs in to hosts
// that an agent cannot log in to; its result counts.
type hostStartup struct {
	*launcher
	dialer    *dialer
	targets   map[int]target
	waiting   map[int]bool    // hosts that have not answered, by index
	results   chan dialResult // has room for all results
	dialing   int             // logins under way
	errs      []error
	takenOver int   // hosts that agents could not log in to
	stopped   error // error of a signal, or of a host that is lost or violates the protocol after its answer
}

// dialResult is the result of a login by the launcher.
type dialResult struct {
	branch branch
	login  *login
	err    error
}

// hostReport is a report about a host below another one: its hello, or that it could not
// log in to the hosts in refused.
type hostReport struct {
	login   *login
	host    int
	hello   hello
	refused []int
	why     error
}

// postReport passes a report to the startup.
func (l *launcher) postReport(n hostReport) {
	select {
	case l.reports <- n:
	case <-l.done:
	}
}

// openRemote opens the hosts of targets. Its error names all hosts that cannot be reached.
// A signal that asks to end stops it, as do the end of ctx and the loss of a host that had
// answered.
func (l *launcher) openRemote(ctx context.Context, targets []target) error {
	d, err := l.dialer()
	if err != nil {
		return err
	}
	o := &hostStartup{
		launcher: l, dialer: d, targets: map[int]target{}, waiting: map[int]bool{}, results: make(chan dialResult, len(targets)),
	}
	for _, t := range targets {
		o.targets[t.Host], o.waiting[t.Host] = t, true
	}
	ctx, cancel := withAnswerTimeout(ctx, l.config.StartTimeout)
	defer cancel()
	o.dialAll(ctx, targets)
	o.wait(ctx, cancel)
	if o.stopped != nil {
		return o.stopped
	}
	for _, g := range slices.Backward(o.logins) { // the latest login to a host first
		o.reportSilent(g.branch, context.Cause(ctx))
	}
	if o.takenOver > 1 {
		l.config.tell(fmt.Sprintf("the launcher had to log in to %s for others: --fanout 0 has it do so at once", phrase.Count(o.takenOver, "host")))
	}
	return errors.Join(o.errs...)
}

// dialAll logs in to hosts, or to those that lead to the others.
func (o *hostStartup) dialAll(ctx context.Context, hosts []target) {
	for _, b := range branches(hosts, o.config.Fanout) {
		o.dialBranch(ctx, b)
	}
}

// dialBranch logs in to the first host of b.
func (o *hostStartup) dialBranch(ctx context.Context, b branch) {
	o.dialing++
	go func() {
		g, err := o.dialer.open(ctx, b)
		o.results <- dialResult{b, g, err} // each host is the first of at most one branch
	}()
}

// wait returns when all hosts have answered or failed.
func (o *hostStartup) wait(ctx context.Context, cancel func()) {
	since, told, signals, done := time.Now(), time.NewTicker(waitingNoticeEvery), o.config.Signals, ctx.Done()
	defer told.Stop()
	for o.dialing > 0 || len(o.waiting) > 0 && ctx.Err() == nil {
		select {
		case r := <-o.results:
			o.dialing--
			o.dialed(ctx, r)
		case n := <-o.reports:
			if n.refused == nil {
				delete(o.waiting, n.host)
				o.addHost(n.login, n.host, n.hello)
			} else if ctx.Err() == nil {
				o.dialRefused(ctx, n)
			}
		case e := <-o.events: // no rank runs yet: an open host is lost
			if o.stopped == nil {
				o.stopped = o.earlyEvent(e)
				cancel()
			}
		case s, ok := <-signals:
			if sig, is := s.(syscall.Signal); is && asksToEnd(sig) {
				o.stopped = exitcode.With(128+int(sig), fmt.Errorf("stopped by %s before all hosts had answered", process.SignalText(sig)))
				cancel()
			}
			if s == syscall.SIGTSTP || s == syscall.SIGCONT {
				o.handleSignal(s.(syscall.Signal))
			}
			if !ok {
				signals = nil
			}
			o.suspend(signals)
		case <-done:
			done = nil
		case <-told.C:
			o.config.tell(waitingText(o.config.Hosts, o.waiting, time.Since(since)))
		}
	}
}

// earlyEvent returns the error of an event before any rank runs.
func (o *hostStartup) earlyEvent(e event) error {
	if e.loss == nil {
		host := o.config.Hosts[o.assignments[e.Rank].Host].Name
		return exitcode.With(exitcode.Protocol, fmt.Errorf("host %s: agent tells of rank %d, which was not started yet", host, e.Rank))
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("host %s is lost: %s", o.targets[e.loss.hosts[0]].Name, e.loss.why))
}

// dialed handles the result of a login. It logs in to the hosts below a host that failed
// without that host, so that the error names all hosts that fail.
func (o *hostStartup) dialed(ctx context.Context, r dialResult) {
	first := r.branch[0]
	if r.err == nil {
		delete(o.waiting, first.Host)
		o.addLogin(r.login)
		return
	}
	if ctx.Err() != nil {
		o.refuse(r.branch, r.err)
		return
	}
	o.refuse(r.branch[:1], r.err)
	o.dialAll(ctx, r.branch[1:])
}

// reportSilent names the hosts below the first of b that have not answered in time: the first
// host of each branch.
func (o *hostStartup) reportSilent(b branch, why error) {
	for _, part := range branches(b[1:], o.config.Fanout) {
		if first := part[0]; o.waiting[first.Host] {
			o.refuse(part, unreachable(first.Name, new(tailBuffer), why))
		} else {
			o.reportSilent(part, why)
		}
	}
}

// refuse stores the error of the first host of b, with the number of hosts behind it: that
// host has not led to them in time, and whether they can be reached is unknown.
func (o *hostStartup) refuse(b branch, err error) {
	untried := 0
	for i, t := range b {
		if i > 0 && o.waiting[t.Host] {
			untried++
		}
		delete(o.waiting, t.Host)
	}
	if untried > 0 {
		err = fmt.Errorf("%w; %s behind it not tried", err, phrase.Count(untried, "host"))
	}
	o.errs = append(o.errs, &hostError{b[0].Host, err})
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

// addLogin adds the first host of a login, and handles the messages of the login from now
// on.
func (l *launcher) addLogin(g *login) {
	l.logins = append(l.logins, g)
	l.addHost(g, g.host(), g.hello)
	go g.receive(l.receiver(g))
}

// addHost adds a host that has sent hello.
func (l *launcher) addHost(g *login, index int, h hello) {
	l.hosts[index] = &remoteHost{name: l.config.Hosts[index].Name, index: index, login: g, hello: h}
	l.config.tell(h.Notice)
}

// dialRefused logs in to hosts that an agent could not log in to. It tells people of the
// first one; openRemote tells the number of all.
func (o *hostStartup) dialRefused(ctx context.Context, n hostReport) {
	var hosts branch
	for _, h := range n.refused {
		hosts = append(hosts, o.targets[h])
	}
	if o.takenOver == 0 {
		name := hosts[0].Name
		o.config.tell(fmt.Sprintf("host %s cannot log in to %s: %s; the launcher does it itself", o.targets[n.host].Name, name, trimHost(name, n.why.Error())))
	}
	o.takenOver++
	o.dialBranch(ctx, hosts)
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
