package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
	"ringtrain/ring/token"
)

// DefaultStartTimeout bounds the wait for all workers.
const DefaultStartTimeout = 300 * time.Second

// DefaultLease is how long a worker or the rendezvous may be silent.
const DefaultLease = 5 * time.Second

// Options is what a worker brings.
type Options struct {
	Addr         string              // host:port of the rendezvous
	Token        token.Token         // the job's secret
	JobID        string              // "": whatever the rendezvous says
	Rank         int                 // -1: give me one, by host in order of arrival, then arrival
	WorldSize    int                 // 0: whatever the rendezvous says
	Self         ring.Worker         // see [Self]; Rank is ignored, an empty or unspecified host in Addr is completed
	InRank0      bool                // the rendezvous lives in rank 0: losing it is losing rank 0
	Agree        []string            // "key=value" lines that all ranks must have equal
	Offers       []state.Offer       // of which a generation has what all ranks have
	Version      string              // of the binary, equal on all ranks
	StartTimeout time.Duration       // 0: DefaultStartTimeout
	Waiting      func(state.Waiting) // called by the goroutine of Join, or Next, on each waiting report; may be nil
	Notice       func(string)        // told what a person should know, from any goroutine; may be nil

	// Find returns where the rendezvous is now, host:port. It is asked at each attempt
	// to reach one; Addr is then a name for people. An error is why it is not reached;
	// with exitcode.Auth, who should know where it is denies this worker. nil: at Addr,
	// always.
	Find func(context.Context) (addr string, err error)

	dial dialFunc // nil: over TCP
}

// Self describes this process as a worker that takes links at addr.
func Self(addr string) ring.Worker {
	host, _ := os.Hostname() // "" where there is none
	return ring.Worker{Host: host, HostID: hostID(host), Addr: addr, PID: os.Getpid(), Incarnation: rand.Uint64()}
}

// hostID is equal for processes that can share memory and loopback: those of
// one boot of one kernel in one network namespace.
func hostID(host string) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return host
	}
	ns, err := os.Readlink("/proc/self/ns/net") // net:[4026531840]
	if err != nil {
		return host
	}
	ns = strings.TrimSuffix(strings.TrimPrefix(ns, "net:["), "]")
	return strings.TrimSpace(string(boot)) + "/" + ns
}

// check returns all that is wrong with the options, at once.
func (o *Options) check() error {
	for _, l := range o.Agree {
		if !strings.Contains(l, "=") {
			panic(`rendezvous: line of Agree without "="`)
		}
	}
	var errs []error
	if o.WorldSize < 0 {
		errs = append(errs, fmt.Errorf("world size is %d, want 1 or more", o.WorldSize))
	}
	if o.Rank < -1 || o.WorldSize > 0 && o.Rank >= o.WorldSize {
		errs = append(errs, fmt.Errorf("rank is %d, want 0 or more and below the world size %d", o.Rank, o.WorldSize))
	}
	if o.StartTimeout < 0 {
		errs = append(errs, fmt.Errorf("start timeout is %v, want more than 0", o.StartTimeout))
	}
	if err := checkAddr(o.Addr); err != nil && o.Find == nil {
		errs = append(errs, fmt.Errorf("rendezvous %w", err))
	}
	if err := checkAddr(o.Self.Addr); err != nil {
		errs = append(errs, fmt.Errorf("own %w", err))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

func checkAddr(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address is %q, want host:port", addr)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("address is %q, want a port from 1 to 65535", addr)
	}
	return nil
}

// find returns the address for one attempt.
func (o *Options) address(ctx context.Context) (string, error) {
	if o.Find == nil {
		return o.Addr, nil
	}
	addr, err := o.Find(ctx)
	if err == nil {
		err = checkAddr(addr)
	}
	if err != nil {
		return "", unreachedError{err.Error(), exitcode.Of(err) == exitcode.Auth}
	}
	return addr, nil
}

// where begins a reason that concerns addr, unless people know that by its name.
func (o *Options) addrPrefix(addr string) string {
	if addr == o.Addr {
		return ""
	}
	return "at " + addr + ": "
}

// join is what goes to the rendezvous, seen from the local end of the
// connection to it.
func (o *Options) request(local net.Addr) state.Request {
	w := o.Self
	w.Rank, w.Addr = o.Rank, completeAddr(w.Addr, local)
	return state.Request{
		JobID: o.JobID, Rank: o.Rank, WorldSize: o.WorldSize, Worker: w,
		Protocol: ring.ProtocolVersion, Version: o.Version, Agree: o.Agree, Offers: o.Offers,
	}
}

// complete puts the host of local into an address that has none: where the
// rendezvous sees us, the other workers do too.
func completeAddr(addr string, local net.Addr) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host != "" && !unspecified(host) {
		return addr
	}
	h, _, err := net.SplitHostPort(local.String())
	if err != nil {
		return addr
	}
	return net.JoinHostPort(h, port)
}

func unspecified(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsUnspecified()
}
