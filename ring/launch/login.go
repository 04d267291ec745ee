package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
)

const (
	// beatEvery is how often an agent hears that its launcher lives, and
	// beatTimeout for how long it goes on without: a pipe that leads to a host
	// without power stays open.
	beatInterval = 5 * time.Second
	beatTimeout  = 30 * time.Second

	// outboxEach is how many frames may wait to be sent to one rank: two for
	// the credit of each output, its start, and signals.
	outboxPerRank = 8

	// sshFailed is ssh's own exit code.
	sshFailed = 255
)

// A login is one ssh to a host and its agent, by whom the frames of all hosts of
// a branch go: in by ssh's standard input, and out of its standard output.
type login struct {
	branch    branch
	cmd       *exec.Cmd
	guard     *process.GuardProcess
	stderr    *tailBuffer // ssh's standard error
	in        io.WriteCloser
	out       *bufio.Reader
	outbox    chan frame
	flushes   chan chan<- struct{} // each is closed when what was posted before is sent
	leaveOnce sync.Once            // closes left
	leaving   chan struct{}        // closed when nothing more is to be sent
	sent      chan struct{}        // closed when nothing more is sent
	ended     chan struct{}        // closed when nothing more comes, and ssh has ended
	hello     hello                // of the first host
	silence   silenceTimer         // of its agent
	overflown atomic.Bool          // there was no room in outbox

	mu     sync.Mutex
	stages map[int]hostStage // of the branch's hosts
}

// A listener takes what comes by a login, in one goroutine for each.
type loginHandler interface {
	// hear takes a frame of an open host, its hello included. An error ends the
	// login.
	handleFrame(f frame) error

	// refused tells that a host cannot log in to the first of hosts, which lead to
	// the others.
	hostsRefused(by int, hosts []int, why error)

	// silent tells that nothing is heard of the first of open hosts, nor of the others,
	// which are reached by it. It may be called while another method is.
	hostsSilent(hosts []int)

	// lost tells that open hosts are gone, the first one by itself and the others
	// with it.
	hostsLost(hosts []int, why string)
}

// apart keeps Ctrl-C from ssh: the ranks are to end first.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// newLogin prepares the login of a branch by cmd.
func newLogin(b branch, cmd *exec.Cmd, guard *process.GuardProcess) *login {
	g := &login{
		branch: b, cmd: cmd, guard: guard, stderr: new(tailBuffer), stages: map[int]hostStage{},
		outbox: make(chan frame, outboxPerRank*b.ranks()+64), flushes: make(chan chan<- struct{}, 1), leaving: make(chan struct{}), sent: make(chan struct{}), ended: make(chan struct{}),
	}
	for _, t := range b {
		g.stages[t.Host] = stagePending
	}
	cmd.Stderr, cmd.SysProcAttr, cmd.WaitDelay = g.stderr, ownGroup(), process.SettleTime
	return g
}

func (g *login) pipes(in io.WriteCloser, out io.Reader) {
	g.in, g.out = in, bufio.NewReaderSize(silenceReader{out, &g.silence}, 64<<10)
}

func (g *login) name() string { return g.branch[0].Name }

func (g *login) host() int { return g.branch[0].Host }

// greet sends the orders and takes the answer.
func (g *login) handshake(o orders) (*frameWriter, error) {
	to := &frameWriter{w: g.in}
	if err := to.send(frameOf(kindOrders, 0, 0, o)); err != nil && !errors.Is(err, syscall.EPIPE) {
		return nil, err // what ssh says counts more than a broken pipe
	}
	if err := skipBanner(g.out); err != nil {
		return nil, err
	}
	f, err := readFrame(g.out)
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

// ended waits for ssh.
func (g *login) wait() {
	g.cmd.Wait() // the state says it better than the error
	g.guard.Forget(g.cmd.Process.Pid)
}

func (g *login) kill() { g.cmd.Process.Kill() }

func (g *login) killAfter(d time.Duration) *time.Timer { return time.AfterFunc(d, g.kill) }

// send sends what is posted, and beats if they are to begin here, until leave; the agent
// then sees the end of its input.
func (g *login) send(to *frameWriter, beats bool) {
	defer close(g.sent)
	defer g.in.Close()
	var beat <-chan time.Time
	if beats {
		ticker := time.NewTicker(beatInterval)
		defer ticker.Stop()
		beat = ticker.C
	}
	for { // an error shows at the other pipe, too
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

// post puts f into the outbox. If that is full the host takes nothing any more, and the
// login ends: a start or a credit that were lost would have a rank wait for ever. Beats
// are lost instead, for what waits says the same. After leave it does nothing.
func (g *login) enqueue(f frame) {
	select {
	case g.outbox <- f:
		return
	case <-g.leaving:
		return
	default:
	}
	if f.kind != kindBeat && !g.overflown.Swap(true) {
		g.kill()
	}
}

// flush returns when what was posted has been sent, or over ends: a host may take nothing.
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

// listen passes on what comes, until the end. Hosts that are then open are lost.
func (g *login) receive(l loginHandler) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { g.silence.watch(over, func() { l.hostsSilent(g.hostsAt(stageOpen)) }, g.kill) })
	err := g.readFrames(l)
	close(over)
	watching.Wait()
	late := g.killAfter(process.SettleTime)
	defer late.Stop()
	g.wait()
	close(g.ended)
	why, code := g.stderr.last(), g.cmd.ProcessState.ExitCode()
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

func (g *login) readFrames(l loginHandler) error {
	for {
		f, err := readFrame(g.out)
		if err != nil {
			return err
		}
		if err := g.dispatch(l, f); err != nil {
			return err
		}
	}
}

// leave lets the agent go: it sees the end of its input.
func (g *login) leave() { g.leaveOnce.Do(func() { close(g.leaving) }) }

// close lets the agent go, and waits for ssh; a dead host's is killed.
func (g *login) close() {
	g.leave()
	late := g.killAfter(2 * process.SettleTime)
	defer late.Stop()
	<-g.ended
	<-g.sent
}
