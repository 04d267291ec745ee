package tcplink

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/oracle"
)

// TestSums compares the sums of groups over sockets with an oracle, and the bits of all ranks
// with each other. It covers every world size up to 17 (with -short: 9), each algorithm,
// codec and compressor, lengths around the edges of chunks and segments, and sums of rows.
func TestSums(t *testing.T) {
	most := 17
	if testing.Short() {
		t.Log("long: world sizes up to 17")
		most = 9
	}
	for p := 1; p <= most; p++ {
		t.Run(fmt.Sprintf("p=%d/rows", p), func(t *testing.T) {
			cfg := ring.DefaultConfig()
			cfg.SegmentElements = 256
			onGroups(t, p, cfg, func(g *ring.Group) error { return linktest.SumRows(t.Context(), g) })
		})
		for _, by := range []string{"ring", "doubling", "halving"} {
			for _, lossless := range []codec.Compressor{nil, codec.NewZstd()} {
				if p == 1 && by != "ring" || lossless != nil && by != "ring" {
					continue // the same as by ring
				}
				t.Run(fmt.Sprintf("p=%d/by=%s/lossless=%v", p, by, lossless), func(t *testing.T) {
					a, err := ring.ParseAlgorithm(by)
					if err != nil {
						t.Fatal(err)
					}
					cfg := ring.DefaultConfig()
					cfg.Algorithm, cfg.SegmentElements, cfg.Lossless = a, 256, lossless
					testSums(t, p, cfg)
				})
			}
		}
	}
}

// testSums verifies the sums of p ranks over sockets.
func testSums(t *testing.T, p int, cfg ring.Config) {
	results := make([][][]float32, p)
	var by []ring.Algorithm // algorithm of each of rank 0's results
	onGroups(t, p, cfg, func(g *ring.Group) error {
		rank := g.Membership().Rank
		in := oracle.New(rank, p, codec.None)
		for _, c := range codec.All() {
			for _, length := range sumLengths(p) {
				buf := make([]float32, length)
				in.Fill(buf)
				if err := g.AllReduce(t.Context(), ring.Reduction{Buf: buf, Codec: c}); err != nil {
					return err
				}
				results[rank] = append(results[rank], buf)
				if rank == 0 {
					by = append(by, g.Algorithm(4*length, c))
				}
			}
		}
		return nil
	})
	right := oracle.New(0, p, codec.None)
	for i, got := range results[0] {
		c := codec.All()[i/len(sumLengths(p))]
		used := c
		if p == 1 || by[i] != ring.ByRing {
			used = codec.None // one rank sends nothing; rounds send float32
		}
		var seen oracle.Deviation
		right.For(used).Check(&seen, got)
		if seen.Wrong > 0 {
			t.Errorf("codec=%v length=%d: %d elements are wrong, by up to %g", c, len(got), seen.Wrong, seen.MaxError)
		}
		for rank := range results {
			if !slices.Equal(bits(results[rank][i]), bits(got)) {
				t.Errorf("codec=%v length=%d: ranks 0 and %d have different bits", c, len(got), rank)
			}
		}
	}
}

func sumLengths(p int) []int { return []int{1, p, p + 1, 257, 256*p + 1, 600*p + 7} }

func bits(x []float32) []uint32 {
	b := make([]uint32, len(x))
	for i := range x {
		b[i] = math.Float32bits(x[i])
	}
	return b
}

// onGroups calls fn once per rank with its group, over links of the ring and of the
// rounds.
func onGroups(t *testing.T, p int, cfg ring.Config, fn func(*ring.Group) error) {
	t.Helper()
	ranks, routes := make([]int, p), linktest.RingRoutes(p)
	m := ring.Membership{JobID: "job-1", Generation: linktest.Generation}
	for rank := range ranks {
		ranks[rank] = rank
		m.Workers = append(m.Workers, ring.Worker{Rank: rank, Host: "here", Incarnation: uint64(100 + rank)})
	}
	over := make([]ring.Transport, p)
	if p > 1 {
		for rank := range routes {
			routes[rank] = append(routes[rank], ring.RoundRoutes(ranks, rank, ring.StreamRounds)...)
		}
		how := auth
		if p%2 == 0 {
			how = tls
		}
		for rank, links := range openRoutes(t, &network{mode: how}, routes) {
			over[rank] = ring.Transport{Ring: links[0], Rounds: links[1:]}
		}
	}
	ctx := endingIn(t, testTimeout)
	var all sync.WaitGroup
	for rank := range over {
		m.Rank = rank
		g, err := ring.New(ctx, m, over[rank], cfg)
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		all.Go(func() {
			defer g.Close()
			if err := fn(g); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	all.Wait()
}

// TestThreads verifies that a group has as many threads as links over sockets need, also with GOMAXPROCS=1.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	onGroups(t, 2, ring.DefaultConfig(), func(g *ring.Group) error { return g.Barrier(t.Context()) })
	if got := runtime.GOMAXPROCS(0); got != ring.LeastThreads {
		t.Errorf("GOMAXPROCS is %d after ring.New, want %d", got, ring.LeastThreads)
	}
}
