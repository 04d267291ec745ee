package ring_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// by returns a configuration with small segments that sums all sizes by name.
func by(t testing.TB, name string) ring.Config {
	t.Helper()
	a, err := ring.ParseAlgorithm(name)
	if err != nil {
		t.Fatal(err)
	}
	cfg := small(nil)
	cfg.Algorithm = a
	return cfg
}

// inRounds are the algorithms that go over the links of rounds.
var inRounds = []string{"doubling", "halving"}

// overMesh calls fn once per rank, on as many goroutines, each with its group
// over mesh. An error of fn is reported, and ends the other ranks' groups.
func overMesh(t testing.TB, mesh []ring.Transport, cfg ring.Config, fn func(g *ring.Group) error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var all sync.WaitGroup
	for rank, transport := range mesh {
		g, err := ring.New(ctx, ringtest.Membership(len(mesh), rank), transport, cfg)
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		all.Go(func() {
			defer g.Close()
			if err := fn(g); err != nil {
				t.Errorf("rank %d: %v", rank, err)
				cancel(fmt.Errorf("rank %d has failed: %w", rank, err))
			}
		})
	}
	all.Wait()
}

// roundsLengths are lengths around multiples of p, and for some p those around
// the pieces of doubling: a frame of 64 KiB. halving's pieces are 512 elements here, or 256.
func roundsLengths(p int) []int {
	const frame = 64 << 10 / 4
	lengths := []int{0, 1, p - 1, p, p + 1, 255, 257, 1000}
	if slices.Contains([]int{2, 3, 5, 8, 17}, p) {
		lengths = append(lengths, frame-16*p, frame+1)
	}
	return lengths
}

// TestRounds verifies the sums of all algorithms that take rounds against float64, that all
// ranks hold equal bits, and that every rank gets every tail: for every world size up to 17,
// with and without a codec, and for lengths around the edges.
func TestRounds(t *testing.T) {
	for p := 1; p <= 17; p++ {
		lengths := roundsLengths(p)
		in := inputs(p, slices.Max(lengths))
		for _, name := range inRounds {
			t.Run(fmt.Sprintf("p=%d/algorithm=%s", p, name), func(t *testing.T) {
				testRounds(t, by(t, name), memlink.Mesh(p), in, lengths)
			})
		}
	}
}

// A sum is what a rank gets of an all-reduce.
type sum struct {
	codec codec.Codec
	buf   []float32
}

// testRounds sums the first elements of in[rank] over the ranks, for each of the
// lengths, with each codec, with tails and without.
func testRounds(t *testing.T, cfg ring.Config, mesh []ring.Transport, in [][]float32, lengths []int) {
	t.Helper()
	p := len(mesh)
	results := make([][]sum, p)
	overMesh(t, mesh, cfg, func(g *ring.Group) error {
		rank := g.Membership().Rank
		for _, n := range lengths {
			for _, c := range []codec.Codec{nil, codec.Int8} {
				for _, tails := range [][]byte{nil, tailsOf(p, rank)} {
					r := ring.Reduction{Buf: slices.Clone(in[rank][:n]), Codec: c, Tails: tails}
					if err := g.AllReduce(t.Context(), r); err != nil {
						return err
					}
					if err := checkTails(p, tails); err != nil {
						return fmt.Errorf("n=%d: %w", n, err)
					}
					used := codec.None
					if g.Algorithm(4*n, c) == ring.ByRing && c != nil {
						used = c
					}
					results[rank] = append(results[rank], sum{used, r.Buf})
				}
			}
		}
		return nil
	})
	for i, first := range results[0] {
		n := len(first.buf)
		part := make([][]float32, p)
		for rank := range part {
			part[rank] = in[rank][:n]
			sameBits(t, fmt.Sprintf("n=%d: rank %d", n, rank), results[rank][i].buf, first.buf)
		}
		if err := checkSum(first.codec, part, first.buf); err != nil {
			t.Errorf("codec=%v: %v", first.codec, err)
		}
	}
}

// checkTails tells which of p tails is not what its rank put there.
func checkTails(p int, tails []byte) error {
	for rank := 0; tails != nil && rank < p; rank++ {
		span := [2]int{rank * ring.TailBytes, (rank + 1) * ring.TailBytes}
		if got, want := tails[span[0]:span[1]], tailsOf(p, rank)[span[0]:span[1]]; !bytes.Equal(got, want) {
			return fmt.Errorf("tail of rank %d is %x, want %x", rank, got, want)
		}
	}
	return nil
}

// tailsOf is what rank puts into Reduction.Tails.
func tailsOf(p, rank int) []byte {
	tails := make([]byte, p*ring.TailBytes)
	for i := range ring.TailBytes {
		tails[rank*ring.TailBytes+i] = byte(17*rank + i + 1)
	}
	return tails
}

// TestRoundsNotFinite verifies that all ranks get equal bits of a NaN. An addition of two NaNs
// keeps the first. Every rank has another NaN in every element.
func TestRoundsNotFinite(t *testing.T) {
	const n = 37
	for _, name := range inRounds {
		for p := 2; p <= 9; p++ {
			results := make([][]float32, p)
			overMesh(t, memlink.Mesh(p), by(t, name), func(g *ring.Group) error {
				rank := g.Membership().Rank
				results[rank] = make([]float32, n)
				for i := range n {
					results[rank][i] = math.Float32frombits(0x7fc00000 + uint32(rank*n+i))
				}
				return g.AllReduce(t.Context(), ring.Reduction{Buf: results[rank]})
			})
			for rank, got := range results {
				sameBits(t, fmt.Sprintf("algorithm=%s p=%d rank %d", name, p, rank), got, results[0])
				if !math.IsNaN(float64(got[0])) {
					t.Errorf("algorithm=%s p=%d: %v, want NaN", name, p, got[0])
				}
			}
		}
	}
}

// TestResidualUntouched verifies that an algorithm without a codec does not change the
// residual.
func TestResidualUntouched(t *testing.T) {
	for _, name := range []string{"doubling"} {
		overMesh(t, memlink.Mesh(3), by(t, name), func(g *ring.Group) error {
			residual := []float32{1, 2, 3}
			err := g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 3), Residual: residual, Codec: codec.Int8})
			if !slices.Equal(residual, []float32{1, 2, 3}) {
				return fmt.Errorf("residual is %v, want it as it was", residual)
			}
			return err
		})
	}
}

// TestAlgorithmBySize verifies by the bytes sent that auto sums a buffer by the algorithm of its
// size, and by the ring where there are no rounds: doubling sends log₂ p times the buffer, the others
// 2(p-1)/p times.
func TestAlgorithmBySize(t *testing.T) {
	const p = 4
	cfg := by(t, "auto")
	for _, tt := range []struct {
		elements int
		want     ring.Algorithm
		sent     int64
	}{
		{257, ring.ByDoubling, 2*ring.FrameHeaderBytes + 2*1028},
		{8 << 10, ring.ByDoubling, 2*ring.FrameHeaderBytes + 2*32<<10},
		{10 << 10, ring.ByHalving, 20*4*ring.FrameHeaderBytes + 60<<10},               // 20 pieces of 512 elements
		{128<<10 + 1024, ring.ByRing, 6*129*ring.FrameHeaderBytes + 6*(128<<10+1024)}, // 129 segments a chunk
	} {
		for _, rounds := range []bool{true, false} {
			mesh := memlink.Mesh(p)
			for r := range mesh {
				if !rounds {
					mesh[r].Rounds = nil
				}
			}
			overMesh(t, mesh, cfg, func(g *ring.Group) error {
				if err := g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, tt.elements)}); err != nil {
					return err
				}
				got, want := g.Algorithm(4*tt.elements, nil), tt.want
				if !rounds {
					want = ring.ByRing
				}
				sent, between := g.SentBytes()
				if got != want || rounds && sent != tt.sent || between != 0 {
					return fmt.Errorf("%d elements by %v, %d bytes sent, %d between hosts, want by %v, %d, 0", tt.elements, got, sent, between, want, tt.sent)
				}
				return nil
			})
		}
	}
}

// encrypted is a link with a key.
type encrypted struct{ ring.Link }

func (encrypted) Facts() ring.LinkFacts { return ring.LinkFacts{TLS: true} }

// TestKeyBytes verifies that the bytes that a rank has sent under one key are those of the link with the most of
// them, headers included, and that a link in clear has none.
func TestKeyBytes(t *testing.T) {
	for _, clear := range []bool{true, false} {
		mesh := memlink.Mesh(2)
		for r := range mesh {
			if tr := &mesh[r]; !clear {
				tr.Ring, tr.Rounds[0] = encrypted{tr.Ring}, encrypted{tr.Rounds[0]}
			}
		}
		overMesh(t, mesh, by(t, "auto"), func(g *ring.Group) error {
			for i := range int64(3) {
				err := errors.Join(g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 100)}), g.Barrier(t.Context()))
				if got, want := g.KeyBytes(), (i+1)*(ring.FrameHeaderBytes+400); err != nil || clear && got != 0 || !clear && got != want {
					return fmt.Errorf("clear=%t: %d bytes under one key, error %v, want %d", clear, got, err, want)
				}
			}
			return nil
		})
	}
}

// TestLinksOfRounds verifies that New panics if the links of rounds are too few or those of
// another rank, on which it would wait for ever.
func TestLinksOfRounds(t *testing.T) {
	for name, change := range map[string]func(tr *ring.Transport){
		"ring: links of rounds are not as many as rounds":  func(tr *ring.Transport) { tr.Rounds = tr.Rounds[1:] },
		"ring: links of rounds are not those of this rank": func(tr *ring.Transport) { tr.Rounds[1] = nil },
	} {
		func() {
			defer func() {
				if got := recover(); got != name {
					t.Errorf("panic %v, want %q", got, name)
				}
			}()
			transport := memlink.Mesh(3)[0]
			change(&transport)
			_, _ = ring.New(t.Context(), ringtest.Membership(3, 0), transport, ring.DefaultConfig())
		}()
	}
}

// TestRoundsAllocateNothing verifies that a small all-reduce allocates nothing once its
// scratch has grown.
func TestRoundsAllocateNothing(t *testing.T) {
	const p, warm, runs = 3, 3, 20
	for _, name := range inRounds {
		for _, n := range []int{10, 20000} {
			overMesh(t, memlink.Mesh(p), by(t, name), func(g *ring.Group) error {
				r := ring.Reduction{Buf: make([]float32, n), Tails: make([]byte, p*ring.TailBytes)}
				var err error
				reduce := func() {
					if e := g.AllReduce(t.Context(), r); e != nil {
						err = e
					}
				}
				for range warm {
					reduce()
				}
				if g.Membership().Rank != 0 {
					for range runs + 1 { // AllocsPerRun runs once more than it counts
						reduce()
					}
					return err
				}
				if n := testing.AllocsPerRun(runs, reduce); n != 0 {
					return fmt.Errorf("algorithm=%s: %v allocations per operation of all ranks, want 0", name, n)
				}
				return err
			})
		}
	}
}
