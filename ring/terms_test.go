package ring_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/link/tcplink"
	"ringtrain/ring/port"
	"ringtrain/ring/ringtest"
	"ringtrain/ring/token"
)

// A call is what one rank does while others do something else.
type call struct {
	name string // in the errors of the other ranks
	by   string // algorithm of all-reduces
	do   func(g *ring.Group) error
}

// reducing is an all-reduce of 1,000 elements or what change makes of it.
func reducing(by, name string, change func(p int, r *ring.Reduction)) call {
	return call{name, by, func(g *ring.Group) error {
		r := ring.Reduction{Buf: make([]float32, 1000)}
		if change != nil {
			change(g.Membership().Size(), &r)
		}
		return g.AllReduce(context.Background(), r)
	}}
}

func broadcasting(root int) call {
	return call{"broadcast", "ring", func(g *ring.Group) error {
		return g.Broadcast(context.Background(), root, strings.NewReader("text"), new(bytes.Buffer))
	}}
}

// A clash is two calls that do not go together: most ranks do one, rank 1 the other.
type clash struct {
	what  string // the difference
	calls [2]call
	deaf  bool // the two calls use different links
}

// clashes are all pairs of algorithms, and of what else may differ.
func clashes() []clash {
	var list []clash
	for _, a := range append([]string{"ring"}, inRounds...) {
		for _, b := range append([]string{"ring"}, inRounds...) {
			if a != b {
				list = append(list, clash{"algorithm", [2]call{reducing(a, a, nil), reducing(b, b, nil)}, a == "ring" || b == "ring"})
			}
		}
		one := reducing(a, "1000", nil)
		list = append(list,
			clash{"length in elements", [2]call{one, reducing(a, "1001", func(_ int, r *ring.Reduction) { r.Buf = make([]float32, 1001) })}, false},
			clash{"codec", [2]call{one, reducing(a, "bf16", func(_ int, r *ring.Reduction) { r.Codec = codec.BF16 })}, a == "halving"},
			clash{"number of tails", [2]call{one, reducing(a, "1", func(p int, r *ring.Reduction) { r.Tails = make([]byte, p*ring.TailBytes) })}, false})
	}
	gather := call{"all-gather", "ring", func(g *ring.Group) error {
		return g.AllGather(context.Background(), make([]byte, 392), new(ring.Gathered)) // a frame as long as that of a ring
	}}
	barrier := call{"barrier", "ring", func(g *ring.Group) error { return g.Barrier(context.Background()) }}
	all := []call{reducing("ring", "all-reduce", nil), gather, barrier, broadcasting(0)}
	for i := range all {
		for j := range all {
			if i != j {
				list = append(list, clash{"operation", [2]call{all[i], all[j]}, false})
			}
		}
	}
	return append(list, clash{"root", [2]call{broadcasting(0), broadcasting(1)}, false})
}

// on has the ranks of members do the calls over mesh, and returns their errors.
func (c clash) on(t *testing.T, members []ring.Membership, mesh []ring.Transport, timeout time.Duration) []error {
	errs := make([]error, len(mesh))
	var all sync.WaitGroup
	for rank, transport := range mesh {
		mine := c.calls[0]
		if rank == 1 {
			mine = c.calls[1]
		}
		cfg := by(t, mine.by)
		cfg.OpTimeout = timeout
		g, err := ring.New(context.Background(), members[rank], transport, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close() // the other ranks must read the sent frames first
		all.Go(func() {
			if errs[rank] = mine.do(g); errs[rank] != nil {
				g.Close()
			}
		})
	}
	all.Wait()
	return errs
}

// check looks at the errors. Where the links are the same some rank must be told what
// differs, with both ranks, one of which is rank 1; else some must be told for whom it
// has waited in vain. Who ends takes its links along.
func (c clash) check(t *testing.T, errs []error) {
	t.Helper()
	told := false
	for rank, err := range errs {
		pe, ok := errors.AsType[*ring.PeerError](err)
		switch {
		case c.deaf && errors.Is(err, ring.ErrTimeout):
			told = told || ok && exitcode.Of(err) == exitcode.Retry
		case errors.Is(err, ring.ErrRanksDiffer):
			told = true
			if !ok || rank != 1 && pe.Rank != 1 || exitcode.Of(err) != exitcode.Protocol ||
				!strings.Contains(err.Error(), fmt.Sprintf("on rank %d", rank)) || !strings.Contains(err.Error(), fmt.Sprintf("on rank %d", pe.Rank)) {
				t.Errorf("rank %d: %v with exit code %d, want ranks %d and 1 named, and 76", rank, err, exitcode.Of(err), rank)
			}
			c.checkText(t, rank, err.Error())
		case errors.Is(err, ring.ErrCorruptFrame):
			t.Errorf("rank %d takes it for a corrupt frame: %v", rank, err)
		}
	}
	if !told {
		t.Errorf("nobody is told: %v", errs)
	}
}

func (c clash) checkText(t *testing.T, rank int, text string) {
	t.Helper()
	want := []string{c.what + " is "}
	if c.what != "root" && c.what != "number of tails" {
		want = append(want, c.calls[0].name, c.calls[1].name)
	}
	for _, w := range want {
		if c.what == "codec" && w == "1000" {
			w = "none"
		}
		if !strings.Contains(text, w) {
			t.Errorf("rank %d: %q, want %q in it", rank, text, w)
		}
	}
}

func (c clash) String() string {
	return fmt.Sprintf("differs=%s/by=%s/ranks=%s/rank1=%s-%s", c.what, c.calls[0].by, c.calls[0].name, c.calls[1].by, c.calls[1].name)
}

// TestCallsDiffer has rank 1 do another operation than the others, or the same one in another
// way. It verifies that all ranks end with the difference and do not blame the network. If the
// two go over different links, the ranks wait for OpTimeout: under a rendezvous the heartbeats
// report it earlier.
func TestCallsDiffer(t *testing.T) {
	for _, c := range clashes() {
		for _, p := range []int{2, 4, 5} {
			if p == 2 && c.what == "root" {
				continue // two roots send and need not receive
			}
			t.Run(fmt.Sprintf("%v/p=%d", c, p), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var members []ring.Membership
					for rank := range p {
						members = append(members, ringtest.Membership(p, rank))
					}
					start := time.Now()
					c.check(t, c.on(t, members, memlink.Mesh(p), faultTimeout))
					if took := time.Since(start); !c.deaf && took > 0 {
						t.Errorf("told after %v, want at once", took)
					}
				})
			})
		}
	}
}

// TestCallsDifferOverTCP is TestCallsDiffer over sockets.
func TestCallsDifferOverTCP(t *testing.T) {
	const p = 4
	for _, c := range clashes() {
		t.Run(c.String(), func(t *testing.T) {
			members, mesh := meshOverTCP(t, p)
			timeout := patience
			if c.deaf {
				timeout = 100 * time.Millisecond
			}
			c.check(t, c.on(t, members, mesh, timeout))
		})
	}
}

// patience is how long ranks wait that should not have to.
const patience = 20 * time.Second

// meshOverTCP opens the ring and the rounds of p ranks on loopback.
func meshOverTCP(t *testing.T, p int) ([]ring.Membership, []ring.Transport) {
	t.Helper()
	members, mesh := make([]ring.Membership, p), make([]ring.Transport, p)
	doors, ranks, workers := make([]*port.Queue, p), make([]int, p), make([]ring.Worker, p)
	for rank := range p {
		door, err := port.Listen("127.0.0.1:0", token.Token{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { door.Close() })
		doors[rank], ranks[rank] = door.Links(), rank
		workers[rank] = ring.Worker{Rank: rank, Host: "here", Addr: door.Addr(), Incarnation: uint64(1 + rank)}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var opening sync.WaitGroup
	for rank := range p {
		members[rank] = ring.Membership{JobID: "job", Generation: 1, Rank: rank, Workers: workers}
		routes := append([]ring.Route{{Stream: ring.StreamRing, To: (rank + 1) % p, From: (rank + p - 1) % p}}, ring.RoundRoutes(ranks, rank, ring.StreamRounds)...)
		opening.Go(func() {
			links, err := tcplink.Open(ctx, members[rank], doors[rank], tcplink.Config{}, routes)
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			mesh[rank] = ring.Transport{Ring: links[0], Rounds: links[1:]}
		})
	}
	opening.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return members, mesh
}
