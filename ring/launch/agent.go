package launch

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
	"ringtrain/ring/internal/wire"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/token"
)

// Agent starts ranks on this host for a launcher on another host. It reads its orders from
// in and writes to out what happens. When in ends, because the launcher has died,
// the ranks get TERM, and KILL two seconds later. Agent returns the exit code once no rank is
// left.
//
// environ is the environment of the login. Agent panics in a guard process.
func Agent(in io.Reader, out io.Writer, environ []string, version string) int {
	if process.IsGuard() {
		panic("launch: main does not call process.RunGuard")
	}
	// The end of the launcher breaks the pipe of out. The agent must outlive that, for its
	// ranks still run. It catches SIGPIPE, because ranks would inherit an ignored signal.
	unheard := make(chan os.Signal, 1)
	signal.Notify(unheard, syscall.SIGPIPE)
	defer signal.Stop(unheard)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(told)
	// The parent-death signal comes at the death of the thread, not of the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := &agent{in: bufio.NewReader(in), out: &frameWriter{w: out}, signals: told, dial: dialOnce, ranks: map[int]bool{}, credits: newCredits()}
	defer func() { a.secret.Close() }()
	if _, err := io.WriteString(out, agentMagic); err != nil {
		return exitcode.Retry
	}
	if err := a.start(environ, version); err != nil {
		a.out.send(frameOf(kindHello, 0, hello{Protocol: agentProtocol, Version: version, Fault: faultOf(err)}))
		return exitcode.Of(err)
	}
	if a.host == nil { // the launcher wants another version of this program
		return exitcode.Protocol
	}
	defer a.host.guard.Close()
	over := make(chan struct{})
	defer close(over)
	go a.out.keepAlive(over)
	return a.serve()
}

// agent is the state of Agent. Only its own goroutine touches it.
type agent struct {
	in      *bufio.Reader
	out     *frameWriter
	signals <-chan os.Signal
	dial    dialFunc
	orders  orders
	secret  *token.HeldFile
	host    *localHost
	credits *credits
	frames  chan frame // closed at the end of in
	cleared chan int   // ranks whose processes have all ended
	ranks   map[int]bool
	paused  bool        // the launcher has announced that it is stopped
	leaving atomic.Bool // no rank is started any more

	unguarded <-chan error // gets why no guard runs any more
}

// start takes the orders and sends hello.
func (a *agent) start(environ []string, version string) error {
	f, err := readFrame(a.in)
	if err != nil {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("no orders on standard input: %w", wire.NoEOF(err)))
	}
	var o orders
	if f.kind != kindOrders {
		return exitcode.With(exitcode.Protocol, errors.New("the first frame is not of orders"))
	}
	if err := f.decode(&o); err != nil {
		return err
	}
	said := hello{Protocol: agentProtocol, Version: version, Cores: process.OwnCores()}
	if o.Protocol != agentProtocol || !build.Same(o.Version, version) { // the launcher reports the difference
		return a.out.send(frameOf(kindHello, 0, said))
	}
	if err := checkOpenFiles(o.Ranks, filesOfProcess+o.Ranks*filesOfChild); err != nil {
		return err
	}
	a.orders = o
	dir := o.Dir
	if err := process.CheckDir(dir); err != nil {
		if o.MustDir {
			return err
		}
		name, _ := os.Hostname()
		dir, _ = os.Getwd()
		said.Notice = fmt.Sprintf("%s has no folder %s: ranks there run in %s; --wdir gives another", cmp.Or(name, "the host"), o.Dir, dir)
	}
	secret, err := token.ParseRevealed(o.Token)
	if err != nil {
		return err
	}
	if a.secret, err = secret.Hold(); err != nil {
		return err
	}
	env := token.Hide(slices.Concat(environ, o.Env), a.secret.Path)
	if len(o.Rendezvous) > 0 {
		if said.Rendezvous, err = firstReachable(context.Background(), candidates(o.Rendezvous, os.Getenv("SSH_CONNECTION"), o.Behind), a.dial); err != nil {
			return err
		}
		env = append(env, "RINGTRAIN_RENDEZVOUS="+said.Rendezvous)
	}
	g, err := process.StartGuard()
	if err != nil {
		return err
	}
	a.frames, a.cleared, a.unguarded = make(chan frame), make(chan int), g.Failed()
	a.host = &localHost{
		env: env, dir: dir, bind: o.Bind, cores: said.Cores, grace: o.Grace, guard: g,
		more:   func(rank int) { a.out.send(frame{kind: kindMore, rank: rank}) },
		output: a.sendOutput, post: a.handleEvent, ranks: map[int]*process.Child{},
	}
	return a.out.send(frameOf(kindHello, 0, said))
}

// serve obeys the launcher until its end, and then ends the ranks that are left. It returns the
// exit code.
func (a *agent) serve() int {
	code := exitcode.OK
	go a.read()
	silent := awake.NewTimer(beatTimeout)
	defer silent.Stop()
	for alone := false; !alone; {
		select {
		case f, ok := <-a.frames:
			alone = !ok || !a.handleFrame(f)
			silent.Reset(a.beatTimeout())
		case rank := <-a.cleared:
			delete(a.ranks, rank)
		case <-silent.C:
			alone = true
		case err := <-a.unguarded:
			alone, code = true, exitcode.Of(err)
		case <-a.signals:
			alone = true
		}
	}
	a.leaving.Store(true)
	a.credits.close()
	a.endAll()
	return code
}

// unbounded is a duration without a practical end.
const unbounded = 1 << 62 * time.Nanosecond

// beatTimeout returns how long the launcher may be silent.
func (a *agent) beatTimeout() time.Duration {
	if a.paused {
		return unbounded
	}
	return beatTimeout
}

// read reads frames until the end of in, or until an invalid frame.
func (a *agent) read() {
	defer close(a.frames)
	for {
		f, err := readFrame(a.in)
		if err != nil {
			return
		}
		a.frames <- f
	}
}

// handleFrame obeys f. It reports whether f is valid.
func (a *agent) handleFrame(f frame) bool {
	switch f.kind {
	case kindBeat:
	case kindPause, kindResume: // a beat may have been under way before a pause
		a.paused = f.kind == kindPause
	case kindSignal:
		n, err := strconv.Atoi(string(f.payload))
		if err != nil || n < 1 || n > 64 {
			return false
		}
		a.host.signal(f.rank, syscall.Signal(n))
	case kindAck:
		v, n, ok := f.parseAck()
		if !ok {
			return false
		}
		a.credits.release(v, n)
	case kindInput:
		return a.host.feed.put(f.payload)
	case kindStart:
		var o startOrder
		if err := f.decode(&o); err != nil || a.ranks[f.rank] || len(o.Program) == 0 || o.Of < 1 || o.Local < 0 || o.Local >= o.Of {
			return false
		}
		if err := a.host.start(f.rank, o); err != nil {
			go a.out.send(frameOf(kindFault, f.rank, faultOf(err)))
			return true
		}
		a.ranks[f.rank] = true
	default:
		return false
	}
	return true
}

// endAll ends the ranks that are left, as the guard does when this process is killed.
func (a *agent) endAll() {
	go func() {
		for range a.frames { // so that read can end
		}
	}()
	c := termination{grace: process.GuardGrace}
	order := c.cancel(time.Now())
	for len(a.ranks) > 0 && order != actionGiveUp {
		if s := order.signal(&c); s != 0 {
			for rank := range a.ranks {
				a.host.signal(rank, s)
			}
		}
		timer := time.NewTimer(time.Until(c.nextDeadline()))
		order = actionNone
		select {
		case rank := <-a.cleared:
			delete(a.ranks, rank)
		case <-timer.C:
			order = c.tick(time.Now())
		}
		timer.Stop()
	}
}

// sendOutput sends the output of a rank when the rank has credit. Once this process is
// about to end, it drops the output beyond the credit.
func (a *agent) sendOutput(rank int, toErr bool, chunk []byte) {
	kind := byte(kindOut)
	if toErr {
		kind = kindErr
	}
	if a.credits.acquire(outputID{rank, kind}, len(chunk)) {
		a.out.send(frame{kind, rank, chunk}) // an error means the end of the launcher
	}
}

// handleEvent reports an event to the launcher.
func (a *agent) handleEvent(e event) {
	if !e.cleared {
		a.out.send(frameOf(kindEnded, e.Rank, endingMessage(e.Ending)))
		return
	}
	a.cleared <- e.Rank
	a.out.send(frameOf(kindCleared, e.Rank, wireCleared{a.leaving.Load()}))
}
