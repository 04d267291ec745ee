package ring_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// inOrder calls fn once per rank, with groups over links whose ring and rounds follow an order
// of the ranks.
func inOrder(t *testing.T, order []int, cfg ring.Config, fn func(g *ring.Group) error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var all sync.WaitGroup
	for position, transport := range memlink.Mesh(len(order)) {
		m := ringtest.Membership(len(order), order[position])
		m.Order.Workers = order
		g, err := ring.New(ctx, m, transport, cfg)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer g.Close()
			if err := fn(g); err != nil {
				t.Errorf("order %v: rank %d: %v", order, m.Rank, err)
				cancel(fmt.Errorf("rank %d has failed: %w", m.Rank, err))
			}
		})
	}
	all.Wait()
}

// shuffled returns a random order of p ranks.
func shuffled(p int) []int { return rand.New(rand.NewPCG(seed, uint64(p))).Perm(p) }

// TestAllReduceInOrder verifies sums and tails if the ring and the rounds follow a random order
// of up to 17 ranks, with and without a codec. It compares the sums with float64 and the bits of
// all ranks with each other.
func TestAllReduceInOrder(t *testing.T) {
	for p := 1; p <= 17; p++ {
		lengths := []int{1, p, 257, 600*p + 7}
		for _, name := range append([]string{"ring"}, inRounds...) {
			for _, c := range []codec.Codec{codec.None, codec.Int8} {
				t.Run(fmt.Sprintf("p=%d/algorithm=%s/codec=%v", p, name, c), func(t *testing.T) {
					for _, n := range lengths {
						testInOrder(t, shuffled(p), by(t, name), c, inputs(p, n))
					}
				})
			}
		}
	}
}

func testInOrder(t *testing.T, order []int, cfg ring.Config, c codec.Codec, in [][]float32) {
	t.Helper()
	p := len(order)
	results := make([][]float32, p)
	inOrder(t, order, cfg, func(g *ring.Group) error {
		rank := g.Membership().Rank
		r := ring.Reduction{Buf: slices.Clone(in[rank]), Codec: c, Tails: make([]byte, p*ring.TailBytes)}
		copy(r.Tails[rank*ring.TailBytes:], tailOf(rank, 1))
		if err := g.AllReduce(t.Context(), r); err != nil {
			return err
		}
		for other := range p {
			if got := r.Tails[other*ring.TailBytes:][:ring.TailBytes]; !bytes.Equal(got, tailOf(other, 1)) {
				return fmt.Errorf("n=%d: tail of rank %d begins with %v", len(r.Buf), other, got[:4])
			}
		}
		results[rank] = r.Buf
		return nil
	})
	if t.Failed() {
		return
	}
	if err := checkSum(c, in, results[0]); err != nil {
		t.Errorf("order %v: %v", order, err)
	}
	for rank, got := range results {
		sameBits(t, fmt.Sprintf("order %v: rank %d", order, rank), got, results[0])
	}
}

// TestOthersInOrder verifies all-gather, broadcast from each root and barrier if the ring
// follows a random order of ranks.
func TestOthersInOrder(t *testing.T) {
	for p := 1; p <= 17; p++ {
		inOrder(t, shuffled(p), small(nil), func(g *ring.Group) error {
			m := g.Membership()
			var all ring.Gathered
			if err := g.AllGather(t.Context(), blob(m.Rank, 100*m.Rank+13), &all); err != nil {
				return err
			}
			for r := range p {
				if !bytes.Equal(all.At(r), blob(r, 100*r+13)) {
					return fmt.Errorf("p=%d: %d bytes of rank %d are not those that it passed to AllGather", p, len(all.At(r)), r)
				}
			}
			for root := range p {
				var got bytes.Buffer
				if err := g.Broadcast(t.Context(), root, bytes.NewReader(blob(root, 3000)), &got); err != nil {
					return err
				}
				if root != m.Rank && !bytes.Equal(got.Bytes(), blob(root, 3000)) {
					return fmt.Errorf("p=%d: %d bytes from root %d are not those that it sent", p, got.Len(), root)
				}
			}
			return g.Barrier(t.Context())
		})
	}
}

// TestNeighboursInOrder verifies that Left, Right and the route of the ring name the same ranks.
func TestNeighboursInOrder(t *testing.T) {
	order := []int{3, 0, 4, 1, 2}
	for at, rank := range order {
		m := ringtest.Membership(5, rank)
		m.Order.Workers = order
		right, left := order[(at+1)%5], order[(at+4)%5]
		if m.Position() != at || m.Right().Rank != right || m.Left().Rank != left {
			t.Errorf("rank %d: position %d between %d and %d, want %d between %d and %d",
				rank, m.Position(), m.Left().Rank, m.Right().Rank, at, left, right)
		}
		ranks, me := m.InRing()
		if route := ring.RingRoute(ranks, me, 0); route.To != right || route.From != left {
			t.Errorf("rank %d: route %+v, want to %d from %d", rank, route, right, left)
		}
	}
}

// TestAcrossInOrder verifies that the rings of the drivers visit the hosts in the order in which
// the ring of the job first does.
func TestAcrossInOrder(t *testing.T) {
	hosts := []int{0, 1, 2, 0, 1, 2, 1}
	order := []int{6, 2, 1, 5, 0, 4, 3} // hosts 1, 2, 0
	for rank := range hosts {
		m := ringtest.OnHosts(hosts, rank)
		m.Order.Workers = order
		sub, driver := m.Across()
		if driver != (rank != 6) {
			t.Errorf("rank %d: driver %v", rank, driver)
			continue
		}
		want := map[bool]string{true: "[1 2 0]", false: "[4 5 3]"}[rank < 3]
		if got, _ := sub.InRing(); driver && fmt.Sprint(got) != want {
			t.Errorf("rank %d: ring of drivers %v, want %s", rank, got, want)
		}
	}
}

// TestOrderOnTwoLevels verifies sums, tails and a broadcast on two levels if the hosts follow
// another order than that of their ranks.
func TestOrderOnTwoLevels(t *testing.T) {
	hosts := []int{0, 1, 2, 0, 1, 2, 1, 3}
	order := []int{7, 4, 1, 6, 2, 5, 0, 3}
	p := len(hosts)
	for _, n := range []int{1, 2048, 5000} {
		in, results := inputs(p, n), make([][]float32, p)
		over := orderedOnHosts(hosts, order)
		members := make([]ring.Membership, p)
		for rank := range members {
			members[rank] = ringtest.OnHosts(hosts, rank)
			members[rank].Order.Workers = order
		}
		overMembers(t, members, over, func(g *ring.Group) error {
			rank := g.Membership().Rank
			r := ring.Reduction{Buf: slices.Clone(in[rank]), Tails: make([]byte, p*ring.TailBytes)}
			copy(r.Tails[rank*ring.TailBytes:], tailOf(rank, 2))
			err := g.AllReduce(t.Context(), r)
			for other := range p {
				if got := r.Tails[other*ring.TailBytes:][:ring.TailBytes]; err == nil && !bytes.Equal(got, tailOf(other, 2)) {
					return fmt.Errorf("tail of rank %d begins with %v", other, got[:4])
				}
			}
			results[rank] = r.Buf
			if err == nil {
				var got bytes.Buffer
				if err = g.Broadcast(t.Context(), 6, bytes.NewReader(blob(6, 5000)), &got); err == nil && rank != 6 && got.Len() != 5000 {
					err = fmt.Errorf("%d bytes of the broadcast, want 5000", got.Len())
				}
			}
			return err
		})
		if err := checkSum(codec.None, in, results[0]); err != nil {
			t.Error(err)
		}
		for rank := range results {
			sameBits(t, fmt.Sprintf("n=%d rank %d", n, rank), results[rank], results[0])
		}
	}
}

// orderedOnHosts is ringtest.HostTransports with rings that follow an order.
func orderedOnHosts(hosts, order []int) []ring.Transport {
	over := ringtest.HostTransports(hosts)
	mesh := memlink.Mesh(len(hosts))
	across := map[string][]ring.Transport{}
	for rank := range hosts {
		m := ringtest.OnHosts(hosts, rank)
		m.Order.Workers = order
		over[rank].Ring, over[rank].Rounds = mesh[m.Position()].Ring, mesh[m.Position()].Rounds
		if sub, driver := m.Across(); driver {
			ranks, me := sub.InRing()
			key := fmt.Sprint(ranks)
			if across[key] == nil {
				across[key] = memlink.Mesh(len(ranks))
			}
			over[rank].Across = &across[key][me]
		}
	}
	return over
}

// overMembers calls fn once per member, with its group over the transport at the same index.
func overMembers(t *testing.T, members []ring.Membership, over []ring.Transport, fn func(g *ring.Group) error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var all sync.WaitGroup
	for i, m := range members {
		all.Go(func() {
			g, err := ring.New(ctx, m, over[i], small(nil))
			if err == nil {
				err = fn(g)
				defer g.Close()
			}
			if err != nil {
				t.Errorf("rank %d: %v", m.Rank, err)
				cancel(fmt.Errorf("rank %d has failed: %w", m.Rank, err))
			}
		})
	}
	all.Wait()
}

// TestNewRefusesOrder verifies that New refuses an order without all ranks.
func TestNewRefusesOrder(t *testing.T) {
	m := ringtest.Membership(3, 0)
	m.Order.Workers = []int{0, 1, 1}
	if _, err := ring.New(t.Context(), m, memlink.Mesh(3)[0], small(nil)); err == nil || !strings.Contains(err.Error(), "order is 0,1,1") {
		t.Errorf("error %v, want one about the order", err)
	}
}
