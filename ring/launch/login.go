package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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

// A login is one ssh to a host and its agent. It carries their frames, by ssh's standard input
// and output.
type login struct {
	target    target
	ssh       *process.Command
	stderr    *tailBuffer // standard error of ssh
	in        io.WriteCloser
	out       *bufio.Reader
	outbox    chan frame
	flushes   chan chan<- struct{} // each is closed when the frames before it are sent
	leaveOnce sync.Once            // closes leaving
	leaving   chan struct{}        // closed when no more frames are to be sent
	sent      chan struct{}        // closed when send has ended
	ended     chan struct{}        // closed when ssh has ended
	hello     hello
	silence   silenceTimer // of its agent
	overflown atomic.Bool  // the outbox had no room
}

// A loginHandler handles the messages of a login, in one goroutine for each login.
type loginHandler interface {
	// handleFrame handles a frame of the host. An error ends the login.
	handleFrame(f frame) error

	// hostSilent reports that the host is silent. It may be called during handleFrame.
	hostSilent()

	// hostLost reports that the host is lost.
	hostLost(why string)
}

// newLogin prepares the login to a host by the command line argv.
func newLogin(t target, argv []string, guard *process.GuardProcess) *login {
	said := new(tailBuffer)
	return &login{
		target: t, ssh: process.NewCommand(argv, said, guard), stderr: said,
		outbox: make(chan frame, outboxPerRank*t.ranks+64), flushes: make(chan chan<- struct{}, 1), leaving: make(chan struct{}), sent: make(chan struct{}), ended: make(chan struct{}),
	}
}

// pipes connects the login to ssh's standard input and output.
func (lo *login) pipes(in io.WriteCloser, out io.Reader) {
	lo.in, lo.out = in, bufio.NewReaderSize(silenceReader{out, &lo.silence}, 64<<10)
}

// handshake sends the orders and reads the hello.
func (lo *login) handshake(o orders) (*frameWriter, error) {
	to := &frameWriter{w: lo.in}
	if err := to.send(frameOf(kindOrders, 0, o)); err != nil && !errors.Is(err, syscall.EPIPE) {
		return nil, err // the message of ssh counts more than a broken pipe
	}
	if err := skipBanner(lo.out); err != nil {
		return nil, err
	}
	f, err := readAgentFrame(lo.out, lo.target.name)
	if err != nil {
		return nil, err
	}
	if f.kind != kindHello {
		return nil, errNoAgent
	}
	if err := f.decode(&lo.hello); err != nil {
		return nil, err
	}
	switch {
	case lo.hello.Fault != nil:
		return nil, lo.hello.Fault.error()
	case lo.hello.Protocol != o.Protocol || !build.Same(lo.hello.Version, o.Version):
		return nil, exitcode.With(exitcode.Protocol, fmt.Errorf("ringtrain there is version %s, here it is %s: give --push, or install the same one", lo.hello.Version, o.Version))
	}
	return to, nil
}

// wait waits for ssh, for at most d before it kills it, and returns its exit code.
func (lo *login) wait(d time.Duration) int {
	late := time.AfterFunc(d, lo.ssh.Kill)
	defer late.Stop()
	return lo.ssh.Wait()
}

// send sends the frames of the outbox, and beats, until leave. At its end the agent reads the
// end of its input.
func (lo *login) send(to *frameWriter) {
	defer close(lo.sent)
	defer lo.in.Close()
	beat := time.NewTicker(beatInterval)
	defer beat.Stop()
	for { // an error also shows at the other pipe
		select {
		case f := <-lo.outbox:
			to.send(f)
		case done := <-lo.flushes:
			for len(lo.outbox) > 0 {
				to.send(<-lo.outbox)
			}
			close(done)
		case <-beat.C:
			to.send(frame{kind: kindBeat})
		case <-lo.leaving:
			for len(lo.outbox) > 0 {
				to.send(<-lo.outbox)
			}
			return
		}
	}
}

// enqueue puts f into the outbox. A full outbox means that the host does not read: enqueue
// then ends the login, for without a start or a credit a rank would wait for ever. After
// leave, enqueue does nothing.
func (lo *login) enqueue(f frame) {
	select {
	case lo.outbox <- f:
		return
	case <-lo.leaving:
		return
	default:
	}
	if !lo.overflown.Swap(true) {
		lo.ssh.Kill()
	}
}

// flush returns when the frames of the outbox have been sent, or when over is closed: a
// host may not read.
func (lo *login) flush(over <-chan struct{}) {
	done := make(chan struct{})
	select {
	case lo.flushes <- done:
	case <-lo.leaving:
	case <-over:
	}
	select {
	case <-done:
	case <-lo.leaving:
	case <-over:
	}
}

// receive handles all that comes, until the end. The host is lost then.
func (lo *login) receive(l loginHandler) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { lo.silence.watch(over, l.hostSilent, lo.ssh.Kill) })
	err := lo.readFrames(l)
	close(over)
	watching.Wait()
	code := lo.wait(process.SettleTime)
	close(lo.ended)
	why := lo.stderr.last()
	switch {
	case why == "" && code == 0:
		why = "its agent has ended"
	case why == "":
		why = fmt.Sprintf("ssh ended with exit code %d", code)
	}
	switch {
	case exitcode.Of(err) == exitcode.Protocol:
		why = err.Error()
	case lo.overflown.Load():
		why = fmt.Sprintf("it takes nothing any more: %d frames wait to be sent to its agent", cap(lo.outbox))
	case lo.silence.expired():
		why = fmt.Sprintf("its agent has said nothing for %v", silentTimeout)
	}
	l.hostLost(why)
}

// readFrames reads and handles frames until an error.
func (lo *login) readFrames(l loginHandler) error {
	for {
		f, err := readAgentFrame(lo.out, lo.target.name)
		if err != nil {
			return err
		}
		if f.kind == kindAlive {
			continue
		}
		if err := l.handleFrame(f); err != nil {
			return err
		}
	}
}

// leave lets the agent go: it reads the end of its input.
func (lo *login) leave() { lo.leaveOnce.Do(func() { close(lo.leaving) }) }

// close lets the agent go and waits for ssh. It kills the ssh of a dead host.
func (lo *login) close() {
	lo.leave()
	late := time.AfterFunc(2*process.SettleTime, lo.ssh.Kill)
	defer late.Stop()
	<-lo.ended
	<-lo.sent
}
