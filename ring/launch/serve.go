package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// AloneConfig says what a rendezvous without a worker serves.
type AloneConfig struct {
	Listen       string // ADDR[:PORT[-PORT]]; the default port is DefaultPort
	WorldSize    int    // 0: the first join says it
	JobID        string // "": the first join's, else drawn
	Token        ring.Token
	StartTimeout time.Duration // from the first join to the last; 0: rendezvous.DefaultStartTimeout
	Insecure     bool          // listen beyond loopback without a token
	Notice       func(string)  // told what a person should know, from any goroutine; may be nil
}

// DefaultPort is where a rendezvous alone listens unless it is told otherwise.
const DefaultPort = "29400"

// check returns all that is wrong with the numbers, at once.
func (c AloneConfig) check() error {
	var errs []error
	if c.WorldSize < 0 {
		errs = append(errs, fmt.Errorf("world size is %d, want 1 or more", c.WorldSize))
	}
	if c.StartTimeout < 0 {
		errs = append(errs, fmt.Errorf("start timeout is %v, want more than 0", c.StartTimeout))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// address completes Listen. Without a token the default is the loopback.
func (c AloneConfig) address() (string, error) {
	if c.Listen == "" {
		if c.Token.Set() {
			return ":" + DefaultPort, nil
		}
		return net.JoinHostPort("127.0.0.1", DefaultPort), nil
	}
	l, err := parseListen(c.Listen)
	if err != nil {
		return "", exitcode.With(exitcode.Usage, fmt.Errorf("--listen is %q, want %w", c.Listen, err))
	}
	if l.ports == "" {
		l.ports = DefaultPort
	}
	return net.JoinHostPort(l.host, l.ports), nil
}

// Alone is the rendezvous of one job in a process that is not one of its
// workers: the launcher, or the command rendezvous.
type Alone struct {
	Server *rendezvous.Server
	hub    *hub
	size   int // 0: not known beforehand
}

// ServeAlone opens the port and serves the rendezvous there until Close. A port
// in use is exitcode.Retry, an address beyond loopback without a token
// exitcode.Auth, wrong options exitcode.Usage.
func ServeAlone(c AloneConfig) (*Alone, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	at, err := c.address()
	if err != nil {
		return nil, err
	}
	d := door{at, c.Token, c.Insecure, c.Notice}
	h, err := openHub(d, rendezvous.ServerOptions())
	if err != nil {
		return nil, err
	}
	h.hold(d, rendezvous.ServerConfig{JobID: c.JobID, WorldSize: c.WorldSize, StartTimeout: c.StartTimeout})
	h.start()
	return &Alone{Server: h.server, hub: h, size: c.WorldSize}, nil
}

// Addr is the address that it listens on.
func (a *Alone) Addr() string { return a.hub.port.Addr() }

// Wait returns when the job has ended, nil if it ended well and else with the
// first cause and its exit code, or when ctx ends, with ctx's cause. It closes
// a. If the job ended before it began, workers that are still on their way hear
// the cause for up to two seconds.
func (a *Alone) Wait(ctx context.Context) error {
	defer a.Close()
	select {
	case <-a.Server.Done():
	case <-ctx.Done():
		return fmt.Errorf("rendezvous on %s: %w", a.Addr(), context.Cause(ctx))
	}
	c := a.Server.Cause()
	if c == nil {
		return nil
	}
	a.hub.audience.wait(ctx, a.size)
	return causeError(c)
}

// Close releases the port. If the job has ended it lets the workers that are
// connected hear it, for two seconds at most; a job that goes on loses its
// rendezvous. Close may be called more than once.
func (a *Alone) Close() { a.hub.close() }
