package rendezvous

import (
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
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous/state"
	"ringtrain/ring/token"
)

// DefaultStartTimeout bounds the wait for all workers.
const DefaultStartTimeout = 300 * time.Second

// DefaultLease is how long a worker or the rendezvous may be silent.
const DefaultLease = 5 * time.Second

// Options holds the settings of a worker.
type Options struct {
	Addr         string              // host:port of the rendezvous
	Token        token.Token         // the job's secret
	JobID        string              // "": the job id of the rendezvous
	Rank         int                 // -1: the rendezvous assigns a rank, by host and order of arrival
	WorldSize    int                 // 0: the world size of the rendezvous
	Self         ring.Worker         // see [Self]; Rank is ignored, an empty or unspecified host in Addr is completed
	InRank0      bool                // rank 0 serves the rendezvous: the loss of the rendezvous is that of rank 0
	Agree        []string            // "key=value" lines that must be equal on all ranks
	Offers       []state.Offer       // values of which a generation uses the highest common ones
	Version      string              // version of the binary, equal on all ranks
	StartTimeout time.Duration       // 0: DefaultStartTimeout
	Waiting      func(state.Waiting) // called with each waiting report, by the goroutine of Join or Next; may be nil
	Notice       func(string)        // called with texts for people, from any goroutine; may be nil

	// Strangers returns who has come to the port of this worker and proved nothing. It is nil if the
	// rendezvous is at this port.
	Strangers func() port.Strangers

	dial dialFunc
}

// Self describes this process as a worker that accepts links at addr.
func Self(addr string) ring.Worker {
	host, _ := os.Hostname() // "" without a host name
	return ring.Worker{Host: host, HostID: hostID(host), Addr: addr, PID: os.Getpid(), Incarnation: rand.Uint64()}
}

// hostID returns the host id: equal for processes of one boot in one network namespace, which can
// share memory and loopback.
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

// notify tells people a text, if there is one.
func (o *Options) notify(text string) {
	if text != "" && o.Notice != nil {
		o.Notice(text)
	}
}

// check returns all errors of the options.
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
	if err := checkAddr(o.Addr); err != nil {
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

// request returns the request to join; see connection.complete.
func (o *Options) request() state.Request {
	w := o.Self
	w.Rank = o.Rank
	return state.Request{
		JobID: o.JobID, Rank: o.Rank, WorldSize: o.WorldSize, Worker: w,
		Protocol: ring.ProtocolVersion, Version: o.Version, Agree: o.Agree, Offers: o.Offers,
	}
}

// completeAddr adds the host of local to an address without one. The other workers reach this
// worker where the rendezvous does.
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
