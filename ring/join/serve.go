package join

import (
	"net"
	"net/netip"

	"ringtrain/ring/launch/place"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// Serve serves the rendezvous of a job in a process that is no worker: the launcher, or the command
// rendezvous. listen is ADDR[:PORT[-PORT]]; the default port is place.DefaultPort. insecure allows
// an address beyond the loopback without a token.
//
// A port in use is exitcode.Retry, an address that needs a token is exitcode.Auth, and wrong options
// are exitcode.Usage.
func Serve(listen string, insecure bool, c rendezvous.ServerConfig) (*rendezvous.Server, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	at, err := place.RendezvousAddress(listen, c.Token.Set())
	if err != nil {
		return nil, err
	}
	if c.Token, err = place.TokenFor(at, c.Token, insecure); err != nil {
		return nil, err
	}
	p, err := openPort(at, c.Token, insecure, c.Notice)
	if err != nil {
		return nil, err
	}
	c.Strangers = p.Strangers
	s := rendezvous.Serve(wholePort{p.GRPC(), p}, c)
	p.SetOwner(func() port.Owner { return port.Owner{Rendezvous: true, JobID: s.JobID(), Rank: -1} })
	return s, nil
}

// wholePort is the listener of a port without links. Its Close closes the port.
type wholePort struct {
	net.Listener
	port *port.Port
}

func (p wholePort) Close() error { return p.port.Close() }

// openPort listens, if it is safe to listen there. notice receives a warning; it may be nil.
func openPort(listen string, secret token.Token, insecure bool, notice func(string)) (*port.Port, error) {
	warning, err := place.CheckListen(listen, secret, insecure)
	if err != nil {
		return nil, err
	}
	if warning != "" && notice != nil {
		notice(warning)
	}
	return port.Listen(listen, secret)
}

// listen opens the port of a worker at p, and serves the rendezvous there if the place says so.
func (t *Team) listen(p place.Place) error {
	c := t.config
	served := rendezvous.ServerConfig{
		JobID: p.JobID, WorldSize: p.WorldSize, Token: c.Token, StartTimeout: c.StartTimeout, Addrs: p.Listed,
		Restarts: c.Restarts, Lease: c.Lease, Notice: c.Notice, NoticeSink: rendezvous.NoticeRank0,
	}
	if err := served.Check(); err != nil {
		return err
	}
	var err error
	if t.port, err = openPort(listenAddr(p), c.Token, c.Insecure, c.Notice); err != nil {
		return err
	}
	t.self = selfAt(p, t.port.Addr())
	t.setOwner(p.JobID, p.Rank, func() uint64 { return 0 })
	if p.Serve {
		served.Strangers = t.port.Strangers
		t.server = rendezvous.Serve(t.port.GRPC(), served)
	}
	return nil
}

// listenAddr returns where the worker of p listens. Under run it listens on the address by which it
// reaches the rendezvous, which it tells the others, and not on all interfaces.
func listenAddr(p place.Place) string {
	host, _, _ := net.SplitHostPort(p.Rendezvous)
	if _, err := netip.ParseAddr(host); err != nil || p.Source != place.UnderRun || p.Listen != ":0" {
		return p.Listen
	}
	c, err := net.Dial("udp", p.Rendezvous) // sends nothing: the system chooses the route
	if err != nil {
		return p.Listen
	}
	defer c.Close()
	host, _, _ = net.SplitHostPort(c.LocalAddr().String())
	return net.JoinHostPort(host, "0")
}

// setOwner sets the owner that the port names to who asks with the token: this worker, with as much of
// its place as it knows, and the rendezvous that it follows.
func (t *Team) setOwner(jobID string, rank int, follows func() uint64) {
	o := port.Owner{JobID: jobID, Rank: rank, Incarnation: t.self.Incarnation}
	t.port.SetOwner(func() port.Owner {
		o := o
		o.Follows = follows()
		return o
	})
}

// closePort closes the port, if there is one. A rendezvous here first tells the others the end.
func (t *Team) closePort() {
	if t.server != nil {
		t.server.Close()
	}
	if t.port != nil {
		t.port.Close()
	}
}
