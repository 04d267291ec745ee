package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

const (
	// beatEvery is how often an agent hears that its launcher lives, and
	// beatTimeout for how long it goes on without: a pipe that leads to a host
	// without power stays open.
	beatEvery   = 5 * time.Second
	beatTimeout = 30 * time.Second

	// sshFailed is ssh's own exit code.
	sshFailed = 255
)

// remoteHost starts ranks on another host, by an agent there. One ssh leads to
// it: frames go in by its standard input and come out of its standard output.
type remoteHost struct {
	name   string
	cmd    *exec.Cmd
	guard  *guard
	said   *tail // ssh's standard error
	in     io.WriteCloser
	out    *bufio.Reader
	outbox chan frame
	sent   chan struct{} // closed when nothing more is sent
	heard  chan struct{} // closed when nothing more comes, and ssh has ended
	hello  hello
}

// dialer opens hosts.
type dialer struct {
	ssh    []string
	self   string  // the launcher's program
	push   *pushed // nil: what is there must do
	guard  *guard
	orders orders
	ranks  int // of a host, at most
}

// open starts the agent of a host and returns when it has said hello.
func (d *dialer) open(ctx context.Context, name string) (*remoteHost, error) {
	if d.push == nil {
		return d.connect(ctx, name, agentLine(d.self))
	}
	h, err := d.connect(ctx, name, d.push.agentLine())
	if exitcode.Of(err) != exitcode.NotFound {
		return h, err
	}
	if err := d.push.copy(ctx, d.ssh, name); err != nil {
		return nil, err
	}
	return d.connect(ctx, name, d.push.agentLine())
}

// apart keeps Ctrl-C from ssh: the ranks are to end first.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (d *dialer) connect(ctx context.Context, name, line string) (*remoteHost, error) {
	argv := sshLine(d.ssh, name, line)
	h := &remoteHost{
		name: name, cmd: exec.Command(argv[0], argv[1:]...), guard: d.guard, said: new(tail),
		outbox: make(chan frame, 4*d.ranks+64), sent: make(chan struct{}), heard: make(chan struct{}),
	}
	h.cmd.Stderr, h.cmd.SysProcAttr, h.cmd.WaitDelay = h.said, apart(), settling
	in, err1 := h.cmd.StdinPipe()
	out, err2 := h.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, cannotRun(argv[0], err)
	}
	h.guard.watch(h.cmd.Process.Pid) // a guard that is gone shows at the ranks
	h.in, h.out = in, bufio.NewReaderSize(out, 64<<10)
	stop := context.AfterFunc(ctx, func() { h.cmd.Process.Kill() })
	defer stop()
	err := h.greet(d.orders)
	if err == nil {
		return h, nil
	}
	in.Close()
	late := time.AfterFunc(settling, func() { h.cmd.Process.Kill() })
	defer late.Stop()
	h.ended()
	return nil, h.refusal(ctx, err)
}

// greet sends the orders and takes the answer.
func (h *remoteHost) greet(o orders) error {
	to := &frameWriter{w: h.in}
	if err := to.send(frameOf(kindOrders, 0, o)); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err // what ssh says counts more than a broken pipe
	}
	if err := skipForeword(h.out); err != nil {
		return err
	}
	f, err := readFrame(h.out)
	if err != nil {
		return err
	}
	if f.kind != kindHello {
		return errNoAgent
	}
	if err := f.decode(&h.hello); err != nil {
		return err
	}
	switch {
	case h.hello.Fault != nil:
		return h.hello.Fault.error()
	case h.hello.Protocol != o.Protocol || h.hello.Version != o.Version:
		return exitcode.With(exitcode.Protocol, fmt.Errorf("ringtrain there is version %s, here it is %s: give --push, or install the same one", h.hello.Version, o.Version))
	}
	go h.send(to)
	return nil
}

// refusal is err, which ended the opening, in the light of how ssh ended.
func (h *remoteHost) refusal(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return unreachable(h.name, h.said, context.Cause(ctx))
	}
	if exitcode.Of(err) != exitcode.Failed {
		return fmt.Errorf("host %s: %w", h.name, err)
	}
	switch code := h.cmd.ProcessState.ExitCode(); code {
	case exitcode.NotFound:
		return exitcode.With(code, fmt.Errorf("ringtrain: not found on host %s: give --push or --wdir", h.name))
	case exitcode.NotRunnable:
		return exitcode.With(code, fmt.Errorf("ringtrain: not executable on host %s: %s", h.name, h.said.last()))
	case sshFailed, -1:
		return unreachable(h.name, h.said, nil)
	default:
		return exitcode.With(exitcode.Retry, fmt.Errorf("host %s: the agent did not start (exit code %d): %s", h.name, code, h.whatSaid(err)))
	}
}

func (h *remoteHost) whatSaid(err error) string {
	if last := h.said.last(); last != "" {
		return last
	}
	return err.Error()
}

// unreachable is the error of a host that ssh does not get to.
func unreachable(host string, said *tail, why error) error {
	text := said.last()
	switch {
	case text == "" && why != nil:
		text = why.Error()
	case text == "":
		text = "ssh says nothing"
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("host %s cannot be reached: %s", host, text))
}

// ended waits for ssh.
func (h *remoteHost) ended() {
	h.cmd.Wait() // the state says it better than the error
	h.guard.forget(h.cmd.Process.Pid)
}

// send sends what is in the outbox, and beats, until it is closed; the agent
// then sees the end of its input.
func (h *remoteHost) send(to *frameWriter) {
	defer close(h.sent)
	defer h.in.Close()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		f := frame{kind: kindBeat}
		select {
		case next, ok := <-h.outbox:
			if !ok {
				return
			}
			f = next
		case <-beat.C:
		}
		to.send(f) // an error shows at the other pipe, too
	}
}

// listen passes on what the agent says, until its end. Ranks that are then
// left are lost, by an event for each.
func (h *remoteHost) listen(mine func(rank int) bool, hear func(rank int, toErr bool, chunk []byte), tell func(event), lost func(host, why string)) {
	err := h.pass(mine, hear, tell)
	late := time.AfterFunc(settling, func() { h.cmd.Process.Kill() })
	defer late.Stop()
	h.ended()
	close(h.heard)
	why := h.said.last()
	if why == "" {
		why = fmt.Sprintf("ssh ended with exit code %d", h.cmd.ProcessState.ExitCode())
	}
	if exitcode.Of(err) == exitcode.Protocol {
		why = err.Error()
	}
	lost(h.name, why)
}

func (h *remoteHost) pass(mine func(rank int) bool, hear func(rank int, toErr bool, chunk []byte), tell func(event)) error {
	for {
		f, err := readFrame(h.out)
		if err != nil {
			return err
		}
		if !mine(f.rank) {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q of rank %d, which does not run there", f.kind, f.rank))
		}
		switch f.kind {
		case kindOut, kindErr:
			hear(f.rank, f.kind == kindErr, f.payload)
		case kindCleared:
			tell(event{ending: ending{rank: f.rank}, cleared: true})
		case kindEnded:
			var s saidEnding
			if err := f.decode(&s); err != nil {
				return err
			}
			tell(event{ending: s.of(f.rank, h.name)})
		case kindFault:
			var s saidFault
			if err := f.decode(&s); err != nil {
				return err
			}
			tell(event{ending: ending{rank: f.rank}, fault: fmt.Errorf("host %s: %w", h.name, s.error())})
		default:
			return exitcode.With(exitcode.Protocol, fmt.Errorf("agent sent a frame %q", f.kind))
		}
	}
}

func (h *remoteHost) start(rank int, o startOrder) error {
	f := frameOf(kindStart, rank, o)
	if len(f.payload) > maxPayload {
		return exitcode.With(exitcode.NotRunnable, fmt.Errorf("host %s: command line and variables of %d bytes, want at most %d", h.name, len(f.payload), maxPayload))
	}
	h.post(f)
	return nil
}

func (h *remoteHost) signal(rank int, s syscall.Signal) {
	h.post(frame{kindSignal, rank, []byte(strconv.Itoa(int(s)))})
}

// post puts f into the outbox. If that is full the host takes nothing any
// more: ssh will say so, or the ranks' time to end runs out.
func (h *remoteHost) post(f frame) {
	select {
	case h.outbox <- f:
	default:
	}
}

// close lets the agent go, and waits for ssh; a dead host's is killed.
func (h *remoteHost) close() {
	close(h.outbox)
	late := time.AfterFunc(2*settling, func() { h.cmd.Process.Kill() })
	defer late.Stop()
	<-h.heard
	<-h.sent
}
