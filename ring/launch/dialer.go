package launch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
	"ringtrain/ring/launch/process"
)

// maxLogins bounds the hosts that one process logs in to at the same time.
const maxLogins = 32

// dialer logs in to hosts, for the launcher and for agents.
type dialer struct {
	ssh    []string
	self   string         // the launcher's program
	push   *pushedProgram // nil: hosts must have the program
	guard  *process.GuardProcess
	orders orders        // for all hosts; orders.to completes them
	beats  bool          // begin here, in the launcher; agents pass them on
	turns  chan struct{} // holds one element for each login under way
}

// withAnswerTimeout bounds the wait for an answer.
func withAnswerTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return awake.WithTimeoutCause(ctx, d, fmt.Errorf("no answer in %v", d))
}

// open starts the agent of the first host of b and returns when the agent has sent hello. A
// host that leads to others must answer within the orders' AnswerTimeout, so that time is
// left to reach the others without it.
func (d *dialer) open(ctx context.Context, b branch) (*login, error) {
	select {
	case d.turns <- struct{}{}:
		defer func() { <-d.turns }()
	case <-ctx.Done():
	}
	name := b[0].Name
	if ctx.Err() != nil {
		return nil, unreachable(name, new(tailBuffer), context.Cause(ctx))
	}
	if len(b) > 1 {
		var cancel context.CancelFunc
		ctx, cancel = withAnswerTimeout(ctx, d.orders.AnswerTimeout)
		defer cancel()
	}
	if d.push == nil {
		return d.connect(ctx, b, agentLine(d.self))
	}
	g, err := d.connect(ctx, b, d.push.agentLine())
	if exitcode.Of(err) != exitcode.NotFound {
		return g, err
	}
	if err := d.push.copy(ctx, d.ssh, name, d.guard); err != nil {
		return nil, err
	}
	return d.connect(ctx, b, d.push.agentLine())
}

// connect starts ssh with a line of the host's shell and exchanges orders and hello.
func (d *dialer) connect(ctx context.Context, b branch, line string) (*login, error) {
	g := newLogin(b, sshLine(d.ssh, b[0].Name, line), d.guard)
	in, out, err := g.ssh.StartPiped()
	if err != nil {
		return nil, err
	}
	g.pipes(in, out)
	stop, answered := context.AfterFunc(ctx, g.ssh.Kill), make(chan struct{})
	defer stop()
	go g.ssh.KillFailed(answered)
	defer close(answered)
	to, err := g.handshake(d.orders.to(b))
	if err == nil {
		go g.send(to, d.beats)
		return g, nil
	}
	in.Close()
	return nil, d.refusal(ctx, g, g.wait(process.SettleTime), err)
}

// refusal returns the error of the login g that failed with err, by the exit code of ssh.
func (d *dialer) refusal(ctx context.Context, g *login, code int, err error) error {
	name := g.name()
	if ctx.Err() != nil {
		return unreachable(name, g.stderr, context.Cause(ctx))
	}
	if exitcode.Of(err) != exitcode.Failed {
		return fmt.Errorf("host %s: %w", name, err)
	}
	if g.stderr.last() == absent {
		code = exitcode.NotFound
	}
	switch code {
	case exitcode.NotFound:
		return exitcode.With(code, d.notFound(name))
	case exitcode.NotRunnable:
		return exitcode.With(code, fmt.Errorf("ringtrain: not executable on host %s: %s", name, g.stderr.last()))
	case sshFailed, -1:
		return unreachable(name, g.stderr, nil)
	default:
		text := g.stderr.last()
		if text == "" {
			text = err.Error()
		}
		return exitcode.With(exitcode.Retry, fmt.Errorf("host %s: the agent did not start (exit code %d): %s", name, code, text))
	}
}

// notFound is the error of a host without the program. It says where the host looked.
func (d *dialer) notFound(host string) error {
	const inPath = "in the PATH that ssh gives there"
	switch {
	case d.push != nil:
		return fmt.Errorf("ringtrain: not found on host %s, in %s", host, d.push.folder())
	case plainPath.MatchString(d.self):
		return fmt.Errorf("ringtrain: not found on host %s, neither at %s nor %s: install it there, or give --push", host, d.self, inPath)
	}
	return fmt.Errorf("ringtrain: not found on host %s, %s: install it there, or give --push", host, inPath)
}

// unreachable is the error of a host that ssh does not reach.
func unreachable(host string, said *tailBuffer, why error) error {
	text := said.last()
	switch {
	case text == "" && why != nil:
		text = why.Error()
	case text == "":
		text = "ssh says nothing"
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("%s%s", unreachablePrefix(host), text))
}

// unreachablePrefix begins the error of a host that ssh does not reach.
func unreachablePrefix(host string) string { return "host " + host + " cannot be reached: " }

// trimHost returns text without the name of the host at its beginning, for a sentence that
// names the host itself.
func trimHost(host, text string) string {
	return strings.TrimPrefix(strings.TrimPrefix(text, unreachablePrefix(host)), "host "+host+": ")
}
