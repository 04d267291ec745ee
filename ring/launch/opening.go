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
const waitingEvery = 5 * time.Second

// opening is the time in which other hosts are made ready. The launcher logs in
// to the first host of each branch, whose agent opens the others; those that it
// cannot log in to the launcher tries itself, and then its word counts.
type opening struct {
	*launcher
	dialer  *dialer
	targets map[int]target
	waiting map[int]bool // hosts that have not answered, by index
	results chan opened  // has room for all
	dialing int          // logins of which there is no result
	errs    []error
	refused int   // hosts that others could not log in to
	stopped error // by a signal, or a host that had answered and is lost or makes no sense
}

// opened is how a login of the launcher's own went.
type opened struct {
	branch branch
	login  *login
	err    error
}

// news are what comes of a host below another one: its hello, or that host could
// not log in to the refused.
type news struct {
	login   *login
	host    int
	hello   hello
	refused []int
	why     error
}

// report gives news to the opening.
func (l *launcher) report(n news) {
	select {
	case l.news <- n:
	case <-l.over:
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
	o := &opening{
		launcher: l, dialer: d, targets: map[int]target{}, waiting: map[int]bool{}, results: make(chan opened, len(targets)),
	}
	for _, t := range targets {
		o.targets[t.Host], o.waiting[t.Host] = t, true
	}
	ctx, cancel := withPatience(ctx, l.config.StartTimeout)
	defer cancel()
	o.dial(ctx, targets)
	o.await(ctx, cancel)
	if o.stopped != nil {
		return o.stopped
	}
	for _, g := range slices.Backward(o.logins) { // the last word on a host first
		o.silent(g.branch, context.Cause(ctx))
	}
	if o.refused > 1 {
		l.config.tell(fmt.Sprintf("the launcher had to log in to %s for others: --fanout 0 has it do so at once", phrase.Count(o.refused, "host")))
	}
	return errors.Join(o.errs...)
}

// dial logs in to hosts, or to those that lead to the others.
func (o *opening) dial(ctx context.Context, hosts []target) {
	for _, b := range branches(hosts, o.config.Fanout) {
		o.lead(ctx, b)
	}
}

// lead logs in to the first host of b.
func (o *opening) lead(ctx context.Context, b branch) {
	o.dialing++
	go func() {
		g, err := o.dialer.open(ctx, b)
		o.results <- opened{b, g, err} // a host is the first of a branch once at most
	}()
}

// await returns when all hosts have answered or failed.
func (o *opening) await(ctx context.Context, cancel func()) {
	since, told, signals, done := time.Now(), time.NewTicker(waitingEvery), o.config.Signals, ctx.Done()
	defer told.Stop()
	for o.dialing > 0 || len(o.waiting) > 0 && ctx.Err() == nil {
		select {
		case r := <-o.results:
			o.dialing--
			o.dialed(ctx, r)
		case n := <-o.news:
			if n.refused == nil {
				delete(o.waiting, n.host)
				o.join(n.login, n.host, n.hello)
			} else if ctx.Err() == nil {
				o.takeOver(ctx, n)
			}
		case e := <-o.events: // no rank runs yet: a host that had answered is lost
			if o.stopped == nil {
				o.stopped = o.tooEarly(e)
				cancel()
			}
		case s, ok := <-signals:
			if sig, is := s.(syscall.Signal); is && ends(sig) {
				o.stopped = exitcode.With(128+int(sig), fmt.Errorf("stopped by %s before all hosts had answered", process.SignalText(sig)))
				cancel()
			}
			if s == syscall.SIGTSTP || s == syscall.SIGCONT {
				o.signalled(s.(syscall.Signal))
			}
			if !ok {
				signals = nil
			}
			o.standStill(signals)
		case <-done:
			done = nil
		case <-told.C:
			o.config.tell(waitingFor(o.config.Hosts, o.waiting, time.Since(since)))
		}
	}
}

// tooEarly is the error of an event before a rank runs.
func (o *opening) tooEarly(e event) error {
	if e.loss == nil {
		host := o.config.Hosts[o.seats[e.Rank].Host].Name
		return exitcode.With(exitcode.Protocol, fmt.Errorf("host %s: agent tells of rank %d, which was not started yet", host, e.Rank))
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("host %s is lost: %s", o.targets[e.loss.hosts[0]].Name, e.loss.why))
}

// dialed takes the result of a login. The hosts below one that failed are tried
// without it, so that all that fail are named.
func (o *opening) dialed(ctx context.Context, r opened) {
	first := r.branch[0]
	if r.err == nil {
		delete(o.waiting, first.Host)
		o.enter(r.login)
		return
	}
	o.errs = append(o.errs, r.err)
	delete(o.waiting, first.Host)
	if ctx.Err() == nil {
		o.dial(ctx, r.branch[1:])
		return
	}
	o.untried(r.branch)
}

// silent names the hosts below the first of b that have not answered in time: of each
// branch the one to log in to, and how many are behind it.
func (o *opening) silent(b branch, why error) {
	for _, part := range branches(b[1:], o.config.Fanout) {
		first := part[0]
		if !o.waiting[first.Host] {
			o.silent(part, why)
			continue
		}
		delete(o.waiting, first.Host)
		o.errs = append(o.errs, unreachable(first.Name, new(tail), why))
		o.untried(part)
	}
}

// untried says how many hosts are behind the first of b, which has not led to them in
// time. Of them nobody knows whether they can be reached.
func (o *opening) untried(b branch) {
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
func (l *launcher) enter(g *login) {
	l.logins = append(l.logins, g)
	l.join(g, g.host(), g.hello)
	go g.listen(l.trunk(g))
}

// join opens a host that has said hello.
func (l *launcher) join(g *login, index int, h hello) {
	l.hosts[index] = &remoteHost{name: l.config.Hosts[index].Name, index: index, login: g, hello: h}
	l.config.tell(h.Notice)
}

// takeOver logs in to hosts that another one could not log in to. The first is
// told at once, and how many there were in the end.
func (o *opening) takeOver(ctx context.Context, n news) {
	var hosts branch
	for _, h := range n.refused {
		hosts = append(hosts, o.targets[h])
	}
	if o.refused == 0 {
		name := hosts[0].Name
		o.config.tell(fmt.Sprintf("host %s cannot log in to %s: %s; the launcher does it itself", o.targets[n.host].Name, name, whyNot(name, n.why.Error())))
	}
	o.refused++
	o.lead(ctx, hosts)
}

// waitingFor names the hosts that have not answered.
func waitingFor(list []hosts.Host, waiting map[int]bool, d time.Duration) string {
	var late []hosts.Host
	for i, h := range list {
		if waiting[i] {
			late = append(late, h)
		}
	}
	return fmt.Sprintf("waiting for %s to answer by ssh for %v: %s", phrase.Count(len(late), "host"), d.Round(time.Second), hosts.Summary(late))
}
