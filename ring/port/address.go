package port

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// address is a host with a range of ports; lo equals hi for a single port.
type address struct {
	host   string
	lo, hi uint16
}

// parse parses "host:port" or "host:lo-hi". The host may be empty.
func parse(addr string) (address, error) {
	host, ports, err := net.SplitHostPort(addr)
	if err != nil {
		return address{}, malformed(addr)
	}
	first, last, isRange := strings.Cut(ports, "-")
	if !isRange {
		last = first
	}
	lo, err1 := strconv.ParseUint(first, 10, 16)
	hi, err2 := strconv.ParseUint(last, 10, 16)
	if err1 != nil || err2 != nil || lo > hi || isRange && lo == 0 {
		return address{}, malformed(addr)
	}
	return address{host, uint16(lo), uint16(hi)}, nil
}

func malformed(addr string) error {
	return exitcode.With(exitcode.Usage, fmt.Errorf("listen %q: want host:port or host:first-last, ports from 0 to 65535", addr))
}

func (a address) String() string {
	if a.lo == a.hi {
		return a.at(int(a.lo))
	}
	return a.at(int(a.lo)) + "-" + strconv.Itoa(int(a.hi))
}

func (a address) at(port int) string {
	return net.JoinHostPort(a.host, strconv.Itoa(port))
}

// listen listens on the first free port of a. Its owner is asked for with t.
func (a address) listen(t token.Token) (net.Listener, error) {
	for port := int(a.lo); port <= int(a.hi); port++ {
		lis, err := net.Listen("tcp", a.at(port))
		if err == nil {
			return lis, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("listen %s: %w", a.at(port), listenError(err))
		}
	}
	if a.hi == 0 {
		return nil, exitcode.With(exitcode.Retry, fmt.Errorf("listen %s: %s", a, NoFree()))
	}
	return nil, exitcode.With(exitcode.Retry, fmt.Errorf("listen %s: %w: %s", a, syscall.EADDRINUSE, a.ownerText(t)))
}

// NoFree says that the system has no port left to give out, to a listener (EADDRINUSE) or to a
// connection (EADDRNOTAVAIL).
func NoFree() string {
	const key = "net.ipv4.ip_local_port_range"
	text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(key, ".", "/"))
	if err != nil {
		return "no free port"
	}
	return fmt.Sprintf("no free port (%s is %s)", key, strings.Join(strings.Fields(string(text)), " "))
}

// askTimeout bounds the wait for an answer from a process on this host.
const askTimeout = 500 * time.Millisecond

// ownerText returns a sentence on the program that has the port and on the remedy. A person who
// would stop this program must know whether it is a rank of the same job.
func (a address) ownerText(t token.Token) string {
	if a.lo != a.hi {
		return "other programs have all of these ports; give others"
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", a.String())
	if err != nil {
		return "another program has the port; stop it or give another one"
	}
	o, err := Ask(ctx, c, t)
	other, wrong := errors.AsType[*token.WrongTokenError](err)
	switch {
	case wrong:
		return fmt.Sprintf("a job that %v has the port; give another one", other)
	case err != nil:
		return "another program has the port; stop it or give another one"
	case o.Rendezvous:
		return fmt.Sprintf("%v has the port; give another one", o)
	}
	return fmt.Sprintf("%v has the port: was it started twice?", o)
}

// listenError removes the address that package net repeats. An address that can never work on this
// host is a usage error.
func listenError(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return exitcode.With(exitcode.Usage, fmt.Errorf("%w: no interface of this host has it", err))
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return exitcode.With(exitcode.Usage, err)
	}
	return err
}
