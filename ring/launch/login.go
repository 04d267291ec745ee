package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
)

const (
	// beatInterval is the time between two beats, by which an agent knows that its
	// launcher lives. After beatTimeout without a beat the agent ends: a pipe to a host
	// without power stays open.
	beatInterval = 5 * time.Second
	beatTimeout  = 30 * time.Second

	// outboxPerRank is how many frames may wait to be sent to one rank: two for the
	// credit of each output, its start, and signals.
	outboxPerRank = 8

	// sshFailed is the exit code of ssh for faults of its own.
	sshFailed = 255
)

// A login is one ssh to a host and its agent. It carries the frames of all hosts of a
// branch, by ssh's standard input and output.
type login struct {
	branch    branch
	ssh       *process.Helper
	stderr    *tailBuffer // standard error of ssh
	in        io.WriteCloser
	out       *bufio.Reader
	outbox    chan frame
	flushes   chan chan<- struct{} // each is closed when the frames before it are sent
	leaveOnce sync.Once            // closes leaving
	leaving   chan struct{}        // closed when no more frames are to be sent
	sent      chan struct{}        // closed when send has ended
	ended     chan struct{}        // closed when ssh has ended
	hello     hello                // of the first host
	silence   silenceTimer         // of its agent
	overflown atomic.Bool          // the outbox had no room

	mu     sync.Mutex
	stages map[int]hostStage // of the branch's hosts
}

// A loginHandler handles the messages of a login, in one goroutine for each login.
type loginHandler interface {
	// handleFrame handles a frame of an open host, including its hello. An error ends
	// the login.
	handleFrame(f frame) error

	// hostsRefused reports that a host cannot log in to the first of hosts, which leads
	// to the others.
	hostsRefused(by int, hosts []int, why error)

	// hostsSilent reports that the first of open hosts is silent, and with it the
	// others, which are reached through it. It may be called during another method.
	hostsSilent(hosts []int)

	// hostsLost reports that open hosts are lost, the first one by itself and the others
	// with it.
	hostsLost(hosts []int, why string)
}

// newLogin prepares the login of a branch by the command line argv.
func newLogin(b branch, argv []string, guard *process.GuardProcess) *login {
	said := new(tailBuffer)
	g := &login{
		branch: b, ssh: process.NewHelper(argv, said, guard), stderr: said, stages: map[int]hostStage{},
		outbox: make(chan frame, outboxPerRank*b.ranks()+64), flushes: make(chan chan<- struct{}, 1), leaving: make(chan struct{}), sent: make(chan struct{}), ended: make(chan struct{}),
	}
	for _, t := range b {
		g.stages[t.Host] = stagePending
	}
	return g
}

// pipes connects the login to ssh's standard input and output.
func (g *login) pipes(in io.WriteCloser, out io.Reader) {
	g.in, g.out = in, bufio.NewReaderSize(silenceReader{out, &g.silence}, 64<<10)
}

// name returns the name of the login's own host.
func (g *login) name() string { return g.branch[0].Name }

// host returns the index of the login's own host.
func (g *login) host() int { return g.branch[0].Host }

// handshake sends the orders and reads the hello.
func (g *login) handshake(o orders) (*frameWriter, error) {
	to := &frameWriter{w: g.in}
	if err := to.send(frameOf(kindOrders, 0, 0, o)); err != nil && !errors.Is(err, syscall.EPIPE) {
		return nil, err // the message of ssh counts more than a broken pipe
	}
	if err := skipBanner(g.out); err != nil {
		return nil, err
	}
	f, err := readAgentFrame(g.out, g.name())
	if err != nil {
		return nil, err
	}
	if f.kind != kindHello {
		return nil, errNoAgent
	}
	if err := f.decode(&g.hello); err != nil {
		return nil, err
	}
	switch {
	case g.hello.Fault != nil:
		return nil, g.hello.Fault.error()
	case g.hello.Protocol != o.Protocol || !build.Same(g.hello.Version, o.Version):
		return nil, exitcode.With(exitcode.Protocol, fmt.Errorf("ringtrain there is version %s, here it is %s: give --push, or install the same one", g.hello.Version, o.Version))
	case f.host != o.Host:
		return nil, errNoAgent
	}
	g.setStage(o.Host, stageOpen)
	return to, nil
}

// wait waits for ssh, for at most d before it kills it, and returns its exit code.
func (g *login) wait(d time.Duration) int {
	late := time.AfterFunc(d, g.ssh.Kill)
	defer late.Stop()
	return g.ssh.Wait()
}

// send sends the frames of the outbox until leave. With beats it also sends beats. At its
// end the agent reads the end of its input.
func (g *login) send(to *frameWriter, beats bool) {
	defer close(g.sent)
	defer g.in.Close()
	var beat <-chan time.Time
	if beats {
		ticker := time.NewTicker(beatInterval)
		defer ticker.Stop()
		beat = ticker.C
	}
	for { // an error also shows at the other pipe
		select {
		case f := <-g.outbox:
			to.send(f)
		case done := <-g.flushes:
			for len(g.outbox) > 0 {
				to.send(<-g.outbox)
			}
			close(done)
		case <-beat:
			to.send(frame{kind: kindBeat})
		case <-g.leaving:
			for len(g.outbox) > 0 {
				to.send(<-g.outbox)
			}
			return
		}
	}
}

// enqueue puts f into the outbox. A full outbox means that the host does not read: enqueue
// then ends the login, for without a start or a credit a rank would wait for ever. It drops
// a beat instead: the frames that wait prove as much. After leave, enqueue does nothing.
func (g *login) enqueue(f frame) {
	select {
	case g.outbox <- f:
		return
	case <-g.leaving:
		return
	default:
	}
	if f.kind != kindBeat && !g.overflown.Swap(true) {
		g.ssh.Kill()
	}
}

// flush returns when the frames of the outbox have been sent, or when over is closed: a
// host may not read.
func (g *login) flush(over <-chan struct{}) {
	done := make(chan struct{})
	select {
	case g.flushes <- done:
	case <-g.leaving:
	case <-over:
	}
	select {
	case <-done:
	case <-g.leaving:
	case <-over:
	}
}

// receive handles all that comes, until the end. Hosts that are open then are lost.
func (g *login) receive(l loginHandler) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { g.silence.watch(over, func() { l.hostsSilent(g.hostsAt(stageOpen)) }, g.ssh.Kill) })
	err := g.readFrames(l)
	close(over)
	watching.Wait()
	code := g.wait(process.SettleTime)
	close(g.ended)
	why := g.stderr.last()
	switch {
	case why == "" && code == 0:
		why = "its agent has ended"
	case why == "":
		why = fmt.Sprintf("ssh ended with exit code %d", code)
	}
	switch {
	case exitcode.Of(err) == exitcode.Protocol:
		why = err.Error()
	case g.overflown.Load():
		why = fmt.Sprintf("it takes nothing any more: %d frames wait to be sent to its agent", cap(g.outbox))
	case g.silence.expired():
		why = fmt.Sprintf("its agent has said nothing for %v", silentTimeout)
	}
	if pending := g.hostsAt(stagePending); len(pending) > 0 {
		l.hostsRefused(g.host(), pending, fmt.Errorf("host %s is lost: %s", g.name(), why))
	}
	l.hostsLost(g.hostsAt(stageOpen), why)
}

// readFrames reads and dispatches frames until an error.
func (g *login) readFrames(l loginHandler) error {
	for {
		f, err := readAgentFrame(g.out, g.name())
		if err != nil {
			return err
		}
		if err := g.dispatch(l, f); err != nil {
			return err
		}
	}
}

// leave lets the agent go: it reads the end of its input.
func (g *login) leave() { g.leaveOnce.Do(func() { close(g.leaving) }) }

// close lets the agent go and waits for ssh. It kills the ssh of a dead host.
func (g *login) close() {
	g.leave()
	late := time.AfterFunc(2*process.SettleTime, g.ssh.Kill)
	defer late.Stop()
	<-g.ended
	<-g.sent
}

// hostStage is the progress of a host of a login.
type hostStage int

const (
	stageUnknown hostStage = iota // not a host of the branch
	stagePending                  // has not sent hello yet
	stageOpen
	stageLost // lost, or not reachable through this login
)

// dispatch passes f to l, if f is valid.
func (g *login) dispatch(l loginHandler, f frame) error {
	at := g.stageOf(f.host)
	switch {
	case f.kind == kindHello && at == stagePending:
		g.setStage(f.host, stageOpen)
	case f.kind == kindHello || at != stageOpen:
		return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q of host %d, which does not speak there", f.kind, f.host))
	case f.kind == kindAlive:
		return nil
	case f.kind == kindSilent:
		var s wireHosts
		if err := f.decode(&s); err != nil {
			return err
		}
		if len(s.Hosts) > 0 && g.stageOf(s.Hosts[0]) == stageOpen { // else the host is already lost
			l.hostsSilent(g.openOf(s.Hosts))
		}
		return nil
	case f.kind == kindRefused:
		s, err := g.readLost(f, stagePending)
		if err == nil {
			l.hostsRefused(f.host, s.Hosts, s.Why.error())
		}
		return err
	case f.kind == kindLost:
		s, err := g.readLost(f, stageOpen)
		if err == nil {
			l.hostsLost(s.Hosts, s.Why.Text)
		}
		return err
	}
	return l.handleFrame(f)
}

// readLost parses a message that hosts at the stage from are lost. The login's own host
// cannot report itself.
func (g *login) readLost(f frame, from hostStage) (s wireHosts, err error) {
	if err := f.decode(&s); err != nil {
		return s, err
	}
	for _, h := range s.Hosts {
		if g.stageOf(h) != from || h == g.host() {
			return s, exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q that host %d is gone, which is not there", f.kind, h))
		}
		g.setStage(h, stageLost)
	}
	if len(s.Hosts) == 0 {
		return s, exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q of no host", f.kind))
	}
	return s, nil
}

// hostsAt returns the hosts at a stage, in the order of the branch.
func (g *login) hostsAt(s hostStage) []int {
	return slices.DeleteFunc(g.branch.hosts(), func(h int) bool { return g.stageOf(h) != s })
}

// openOf returns those of hosts that are open.
func (g *login) openOf(hosts []int) []int {
	return slices.DeleteFunc(hosts, func(h int) bool { return g.stageOf(h) != stageOpen })
}

// stageOf returns the stage of a host.
func (g *login) stageOf(host int) hostStage {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stages[host]
}

// setStage sets the stage of a host.
func (g *login) setStage(host int, s hostStage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stages[host] = s
}
