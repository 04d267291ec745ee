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
	"ringtrain/ring/launch/internal/phrase"
	"ringtrain/ring/launch/process"
)

// waitingEvery is how often people are told for which hosts the start waits.
const waitingNoticeEvery = 5 * time.Second

// opening is the time in which other hosts are made ready. The launcher logs in
// to the first host of each branch, whose agent opens the others; those that it
// cannot log in to the launcher tries itself, and then its word counts.
type hostStartup struct {
	*launcher
	dialer    *dialer
	targets   map[int]target
	waiting   map[int]bool    // hosts that have not answered, by index
	results   chan dialResult // has room for all
	dialing   int             // logins of which there is no result
	errs      []error
	takenOver int   // hosts that others could not log in to
	stopped   error // by a signal, or a host that had answered and is lost or makes no sense
}

// opened is how a login of the launcher's own went.
type dialResult struct {
	branch branch
	login  *login
	err    error
}

// news are what comes of a host below another one: its hello, or that host could
// not log in to the refused.
type hostReport struct {
	login   *login
	host    int
	hello   hello
	refused []int
	why     error
}

// report gives news to the opening.
func (l *launcher) postReport(n hostReport) {
	select {
	case l.reports <- n:
	case <-l.done:
	}
}

// openRemote opens the hosts of targets. All that cannot be reached are in the
// error. A signal that asks to end ends it, as do ctx and the loss of a host that
// had answered.
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
	for _, g := range slices.Backward(o.logins) { // the last word on a host first
		o.reportSilent(g.branch, context.Cause(ctx))
	}
	if o.takenOver > 1 {
		l.config.tell(fmt.Sprintf("the launcher had to log in to %s for others: --fanout 0 has it do so at once", phrase.Count(o.takenOver, "host")))
	}
	return errors.Join(o.errs...)
}

// dial logs in to hosts, or to those that lead to the others.
func (o *hostStartup) dialAll(ctx context.Context, hosts []target) {
	for _, b := range branches(hosts, o.config.Fanout) {
		o.dialBranch(ctx, b)
	}
}

// lead logs in to the first host of b.
func (o *hostStartup) dialBranch(ctx context.Context, b branch) {
	o.dialing++
	go func() {
		g, err := o.dialer.open(ctx, b)
		o.results <- dialResult{b, g, err} // a host is the first of a branch once at most
	}()
}

// await returns when all hosts have answered or failed.
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
		case e := <-o.events: // no rank runs yet: a host that had answered is lost
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

// tooEarly is the error of an event before a rank runs.
func (o *hostStartup) earlyEvent(e event) error {
	if e.loss == nil {
		host := o.config.Hosts[o.assignments[e.Rank].Host].Name
		return exitcode.With(exitcode.Protocol, fmt.Errorf("host %s: agent tells of rank %d, which was not started yet", host, e.Rank))
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("host %s is lost: %s", o.targets[e.loss.hosts[0]].Name, e.loss.why))
}

// dialed takes the result of a login. The hosts below one that failed are tried
// without it, so that all that fail are named.
func (o *hostStartup) dialed(ctx context.Context, r dialResult) {
	first := r.branch[0]
	if r.err == nil {
		delete(o.waiting, first.Host)
		o.addLogin(r.login)
		return
	}
	o.errs = append(o.errs, r.err)
	delete(o.waiting, first.Host)
	if ctx.Err() == nil {
		o.dialAll(ctx, r.branch[1:])
		return
	}
	o.reportUntried(r.branch)
}

// silent names the hosts below the first of b that have not answered in time: of each
// branch the one to log in to, and how many are behind it.
func (o *hostStartup) reportSilent(b branch, why error) {
	for _, part := range branches(b[1:], o.config.Fanout) {
		first := part[0]
		if !o.waiting[first.Host] {
			o.reportSilent(part, why)
			continue
		}
		delete(o.waiting, first.Host)
		o.errs = append(o.errs, unreachable(first.Name, new(tailBuffer), why))
		o.reportUntried(part)
	}
}

// untried says how many hosts are behind the first of b, which has not led to them in
// time. Of them nobody knows whether they can be reached.
func (o *hostStartup) reportUntried(b branch) {
	n := 0
	for _, t := range b[1:] {
		if o.waiting[t.Host] {
			delete(o.waiting, t.Host)
			n++
		}
	}
	if n > 0 {
		o.errs = append(o.errs, exitcode.With(exitcode.Retry, fmt.Errorf("%s behind host %s not tried", phrase.Count(n, "host"), b[0].Name)))
	}
}

// enter opens the first host of a login, and hears what comes by it from now on.
func (l *launcher) addLogin(g *login) {
	l.logins = append(l.logins, g)
	l.addHost(g, g.host(), g.hello)
	go g.receive(l.receiver(g))
}

// join opens a host that has said hello.
func (l *launcher) addHost(g *login, index int, h hello) {
	l.hosts[index] = &remoteHost{name: l.config.Hosts[index].Name, index: index, login: g, hello: h}
	l.config.tell(h.Notice)
}

// takeOver logs in to hosts that another one could not log in to. The first is
// told at once, and how many there were in the end.
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

// waitingFor names the hosts that have not answered.
func waitingText(list []hosts.Host, waiting map[int]bool, d time.Duration) string {
	var late []hosts.Host
	for i, h := range list {
		if waiting[i] {
			late = append(late, h)
		}
	}
	return fmt.Sprintf("waiting for %s to answer by ssh for %v: %s", phrase.Count(len(late), "host"), d.Round(time.Second), hosts.Summary(late))
}
