package launch

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous"
)

// AloneConfig says what a rendezvous without a worker serves.
type AloneConfig struct {
	Listen       string // ADDR[:PORT[-PORT]]; the default port is DefaultPort
	WorldSize    int    // 0: the first join says it
	JobID        string // "": the first join's, else drawn
	Token        ring.Token
	StartTimeout time.Duration
	Insecure     bool         // listen beyond loopback without a token
	Notice       func(string) // told what a person should know; may be nil
}

// DefaultPort is where a rendezvous alone listens unless it is told otherwise.
const DefaultPort = "29400"

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
	port   *port.Port
	grpc   *grpc.Server
	served chan struct{}
}

// ServeAlone opens the port and serves the rendezvous there until Close.
func ServeAlone(c AloneConfig) (*Alone, error) {
	at, err := c.address()
	if err != nil {
		return nil, err
	}
	notice, err := CheckListen(at, c.Token, c.Insecure)
	if err != nil {
		return nil, err
	}
	if notice != "" && c.Notice != nil {
		c.Notice(notice)
	}
	listener, err := port.Listen(at)
	if err != nil {
		return nil, err
	}
	a := &Alone{
		Server: rendezvous.NewServer(rendezvous.ServerConfig{
			JobID: c.JobID, WorldSize: c.WorldSize, Token: c.Token, StartTimeout: c.StartTimeout,
		}),
		port: listener, grpc: grpc.NewServer(rendezvous.ServerOptions()...), served: make(chan struct{}),
	}
	a.Server.Register(a.grpc)
	go func() {
		defer close(a.served)
		a.grpc.Serve(listener.GRPC()) // ends when the port is closed
	}()
	return a, nil
}

// Addr is the address that it listens on.
func (a *Alone) Addr() string { return a.port.Addr() }

// Wait returns when the job has ended, with its first cause if it did not end
// well, or when ctx ends.
func (a *Alone) Wait(ctx context.Context) error {
	defer a.Close()
	select {
	case <-a.Server.Done():
	case <-ctx.Done():
	}
	if c := a.Server.Cause(); c != nil {
		return c
	}
	return nil
}

// Close lets the workers hear the end, for a bounded time, and releases the
// port.
func (a *Alone) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	a.Server.Drain(ctx)
	a.Server.Close()
	a.grpc.Stop()
	a.port.Close()
	<-a.served
}
