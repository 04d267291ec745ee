package tcplink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/port"
	"ringtrain/ring/ringtest"
	"ringtrain/ring/ringtest/netns"
	"ringtrain/ring/token"
)

// TestFlap verifies that an all-reduce of 8 MiB between two hosts completes with the right
// sum after one host's network interface was down for half a second, and that it ends after
// the kernel has killed the connections: each rank names the other, and may run again.
func TestFlap(t *testing.T) {
	hosts := ringtest.Hosts(t, 2, "1gbit")
	for _, by := range []string{"ring", "halving"} { // halving uses a shared connection
		t.Run("by="+by, func(t *testing.T) {
			f := newFlapping(t, hosts, by)
			for rank, err := range f.reduce(func() {
				f.on(t, 1, "ip link set eth0 down")
				time.Sleep(500 * time.Millisecond) // real time of a real network
				f.on(t, 1, "ip link set eth0 up")
			}) {
				if err != nil {
					t.Errorf("down, rank %d: %v", rank, err)
				}
			}
			for rank, err := range f.reduce(func() { f.on(t, 1, "ss -K dst "+hosts[0].Addr) }) {
				if pe, ok := errors.AsType[*ring.PeerError](err); !ok || pe.Rank != 1-rank || exitcode.Of(err) != exitcode.Retry {
					t.Errorf("killed, rank %d: error %v (code %d), want one that names rank %d, with exitcode.Retry", rank, err, exitcode.Of(err), 1-rank)
				}
			}
		})
	}
}

// flapping is a group of workers, each in a network namespace of its own.
type flapping struct {
	hosts  []netns.Host
	groups []*ring.Group
}

func newFlapping(t testing.TB, hosts []netns.Host, by string) *flapping {
	config, err := ring.DefaultConfig(), error(nil)
	if config.Algorithm, err = ring.ParseAlgorithm(by); err != nil {
		t.Fatal(err)
	}
	f := &flapping{hosts: hosts, groups: make([]*ring.Group, len(hosts))}
	workers, ports, ranks := make([]ring.Worker, len(hosts)), make([]*port.Port, len(hosts)), make([]int, len(hosts))
	for rank, h := range hosts {
		err := within(h, func() (err error) {
			ports[rank], err = port.Listen(h.Addr+":0", token.Token{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ports[rank].Close() })
		ranks[rank] = rank
		workers[rank] = ring.Worker{Rank: rank, HostID: h.Addr, Addr: ports[rank].Addr(), Incarnation: uint64(rank + 1)}
	}
	var opening sync.WaitGroup
	for rank, h := range hosts {
		opening.Go(func() {
			c := Config{Spin: DefaultSpin}
			c.Dial = func(ctx context.Context, addr string) (conn net.Conn, err error) {
				err = within(h, func() (err error) {
					conn, err = dialTCP(ctx, addr)
					return err
				})
				return conn, err
			}
			m := ring.Membership{JobID: "flap", Generation: linktest.Generation, Rank: rank, Workers: workers}
			routes := append([]ring.Route{ring.RingRoute(ranks, rank, ring.StreamRing)}, ring.RoundRoutes(ranks, rank, ring.StreamRounds)...)
			links, err := Open(t.Context(), m, ports[rank].Links(), c, routes)
			if err == nil {
				f.groups[rank], err = ring.New(context.Background(), m, ring.Transport{Ring: links[0], Rounds: links[1:]}, config)
			}
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		var closing sync.WaitGroup
		for _, g := range f.groups {
			closing.Go(func() { g.Close() })
		}
		closing.Wait()
	})
	return f
}

// reduce runs all-reduces until the fault is over, and some more. It returns the error of each rank.
func (f *flapping) reduce(fault func()) []error {
	errs := make([]error, len(f.groups))
	var over atomic.Bool
	begun := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer over.Store(true)
		<-begun
		fault()
	})
	for rank, g := range f.groups {
		all.Go(func() {
			buf, last := make([]float32, 2<<20), float32(0)
			for i := 0; last < 3; i++ {
				for k := range buf {
					buf[k] = float32(k%7 + rank)
				}
				buf[0] = 0
				if over.Load() && rank == 0 {
					last++
				}
				buf[1] = 0
				if rank == 0 {
					buf[1] = last // stops rank 1
				}
				if rank == 0 && i == 1 {
					close(begun)
				}
				if errs[rank] = g.AllReduce(context.Background(), ring.Reduction{Buf: buf}); errs[rank] != nil {
					return
				}
				if rank == 1 {
					last = buf[1]
				}
				for k, got := range buf[2:] {
					if want := float32(2*((k+2)%7) + 1); got != want {
						errs[rank] = fmt.Errorf("element %d is %v, want %v", k+2, got, want)
						return
					}
				}
			}
		})
	}
	all.Wait()
	return errs
}

// on runs a command on a host.
func (f *flapping) on(t *testing.T, host int, line string) {
	argv := f.hosts[host].Command(strings.Fields(line)...)
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// within runs do in the network namespace of h. A socket stays in the namespace in which
// it was created.
func within(h netns.Host, do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer home.Close()
	there, err := os.Open(strings.TrimPrefix(h.Command()[1], "--net="))
	if err != nil {
		return err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network of %s: %w", h.Addr, err)
	}
	defer unix.Setns(int(home.Fd()), unix.CLONE_NEWNET)
	return do()
}
