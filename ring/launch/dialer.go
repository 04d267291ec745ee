package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
	"ringtrain/ring/launch/process"
)

// target is a host to log in to.
type target struct {
	host  int    // index in the launcher's list
	name  string // argument of ssh
	ranks int    // number of ranks that it has room for
}

// dialer logs in to hosts.
type dialer struct {
	ssh    []string
	self   string         // the launcher's program
	push   *pushedProgram // nil: hosts must have the program
	guard  *process.GuardProcess
	orders orders        // for all hosts
	turns  chan struct{} // holds one element for each login under way
}

// errNotTried is the error of a host whose turn has not come in time.
var errNotTried = errors.New("was not tried")

// withAnswerTimeout bounds the wait for an answer.
func withAnswerTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return awake.WithTimeoutCause(ctx, d, fmt.Errorf("no answer in %v", d))
}

// open starts the agent of a host and returns when the agent has sent hello.
func (d *dialer) open(ctx context.Context, t target) (*login, error) {
	select {
	case d.turns <- struct{}{}:
		defer func() { <-d.turns }()
	case <-ctx.Done():
		return nil, exitcode.With(exitcode.Retry, fmt.Errorf("host %s %w, with %d logins at a time: %w", t.name, errNotTried, cap(d.turns), context.Cause(ctx)))
	}
	if d.push == nil {
		return d.connect(ctx, t, agentLine(d.self))
	}
	g, err := d.connect(ctx, t, d.push.agentLine())
	if exitcode.Of(err) != exitcode.NotFound {
		return g, err
	}
	if err := d.push.copy(ctx, d.ssh, t.name, d.guard); err != nil {
		return nil, err
	}
	return d.connect(ctx, t, d.push.agentLine())
}

// connect starts ssh with a line of the host's shell and exchanges orders and hello.
func (d *dialer) connect(ctx context.Context, t target, line string) (*login, error) {
	g := newLogin(t, sshLine(d.ssh, t.name, line), d.guard)
	in, out, err := g.ssh.StartPiped()
	if err != nil {
		return nil, err
	}
	g.pipes(in, out)
	stop, answered := context.AfterFunc(ctx, g.ssh.Kill), make(chan struct{})
	defer stop()
	go g.ssh.KillFailed(answered)
	defer close(answered)
	o := d.orders
	o.Ranks = t.ranks
	to, err := g.handshake(o)
	if err == nil {
		go g.send(to)
		return g, nil
	}
	in.Close()
	return nil, d.refusal(ctx, g, g.wait(process.SettleTime), err)
}

// refusal returns the error of the login g that failed with err, by the exit code of ssh.
func (d *dialer) refusal(ctx context.Context, g *login, code int, err error) error {
	name := g.target.name
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
