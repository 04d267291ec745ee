package ring_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

const seed = 20

// inputs returns what each of p ranks puts into an all-reduce of n elements.
func inputs(p, n int) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, uint64(p*1000003+n)))
	in := make([][]float32, p)
	for r := range in {
		in[r] = make([]float32, n)
		for i := range in[r] {
			in[r][i] = float32(rng.NormFloat64())
		}
	}
	return in
}

// small returns a configuration with segments of 256 elements, so that small
// buffers have many.
func small(lossless codec.Compressor) ring.Config {
	cfg := ring.DefaultConfig()
	cfg.SegmentElements, cfg.Lossless = 256, lossless
	return cfg
}

// lengths are those at which chunks and segments of p ranks begin to be empty,
// equal, or more.
func lengths(p int) []int {
	return []int{0, 1, p - 1, p, p + 1, 2*p - 1, 255, 257, 256*p - 1, 256 * p, 256*p + 1, 600*p + 7}
}

// allInputs returns the inputs of p ranks for each of their lengths.
func allInputs(p int) [][][]float32 {
	var all [][][]float32
	for _, n := range lengths(p) {
		all = append(all, inputs(p, n))
	}
	return all
}

// compressors are the lossless wrappers, and none.
func compressors() []codec.Compressor {
	return []codec.Compressor{nil, codec.NewZstd()}
}

// TestAllReduce verifies sums against float64, and that all ranks hold equal bits, for every
// codec, compressor and world size, and for lengths around the edges.
func TestAllReduce(t *testing.T) {
	for _, p := range []int{1, 2, 3, 5, 8, 17} {
		in := allInputs(p)
		for _, lossless := range compressors() {
			for _, c := range codec.All() {
				t.Run(fmt.Sprintf("p=%d/lossless=%v/codec=%v", p, lossless, c), func(t *testing.T) {
					testAllReduce(t, in, small(lossless), c)
				})
			}
		}
	}
}

// testAllReduce sums in[i][rank] over the ranks, for each i.
func testAllReduce(t *testing.T, in [][][]float32, cfg ring.Config, c codec.Codec) {
	p := len(in[0])
	results := make([][][]float32, p)
	ringtest.Run(t, p, cfg, func(g *ring.Group) error {
		rank := g.Membership().Rank
		for i := range in {
			buf := slices.Clone(in[i][rank])
			if err := g.AllReduce(t.Context(), ring.Reduction{Buf: buf, Codec: c}); err != nil {
				return err
			}
			results[rank] = append(results[rank], buf)
		}
		return nil
	})
	for i := range in {
		if err := checkSum(c, in[i], results[0][i]); err != nil {
			t.Error(err)
		}
		for r := range p {
			sameBits(t, fmt.Sprintf("n=%d: rank %d", len(in[i][r]), r), results[r][i], results[0][i])
		}
	}
}

// checkSum compares got with the sum of in. Each of the p encodings of an
// element errs by a share of the largest partial sum.
func checkSum(c codec.Codec, in [][]float32, got []float32) error {
	p := len(in)
	if len(got) != len(in[0]) {
		return fmt.Errorf("%d elements, want %d", len(got), len(in[0]))
	}
	largest := 0.0
	for i := range got {
		abs := 0.0
		for r := range in {
			abs += math.Abs(float64(in[r][i]))
		}
		largest = max(largest, abs)
	}
	if p == 1 {
		largest = 0 // no codec, no sum: exact
	}
	bound := largest * float64(p) * (c.Unit() + 0x1p-24)
	for i := range got {
		want := 0.0
		for r := range in {
			want += float64(in[r][i])
		}
		if diff := math.Abs(float64(got[i]) - want); !(diff <= bound) {
			return fmt.Errorf("n=%d: element %d is %g, want %g ± %g", len(got), i, got[i], want, bound)
		}
	}
	return nil
}

func sameBits(t *testing.T, who string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", who, len(got), len(want))
	}
	for i := range want {
		if g, w := math.Float32bits(got[i]), math.Float32bits(want[i]); g != w {
			t.Fatalf("%s: element %d has bits %#08x, want %#08x", who, i, g, w)
		}
	}
}

// TestOrderOfSummation verifies that the sum depends neither on the size of segments nor on
// tails nor on the goroutine that sends. Otherwise a run would not repeat.
func TestOrderOfSummation(t *testing.T) {
	const p, n = 5, 5000
	var want []float32
	for _, segment := range []int{256, 512, 1 << 16} {
		for _, tails := range []bool{false, true} {
			cfg := ring.DefaultConfig()
			cfg.SegmentElements = segment
			var got []float32
			ringtest.Run(t, p, cfg, func(g *ring.Group) error {
				r := ring.Reduction{Buf: inputs(p, n)[g.Membership().Rank]}
				if tails {
					r.Tails = make([]byte, p*ring.TailBytes)
				}
				err := g.AllReduce(t.Context(), r)
				if g.Membership().Rank == 0 {
					got = r.Buf
				}
				return err
			})
			if want == nil {
				want = got
			}
			sameBits(t, fmt.Sprintf("segment=%d tails=%v", segment, tails), got, want)
		}
	}
}

// TestNotFinite verifies that a NaN or an infinity of one rank reaches all ranks and is no
// error: the check of the job must see it everywhere.
func TestNotFinite(t *testing.T) {
	const p, n = 3, 1000
	for _, c := range codec.All() {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			t.Run(fmt.Sprintf("codec=%v/value=%v", c, bad), func(t *testing.T) {
				results := make([][]float32, p)
				ringtest.Run(t, p, small(nil), func(g *ring.Group) error {
					rank := g.Membership().Rank
					buf := inputs(p, n)[rank]
					if rank == 1 {
						buf[500] = float32(bad)
					}
					results[rank] = buf
					return g.AllReduce(t.Context(), ring.Reduction{Buf: buf, Codec: c})
				})
				for rank, got := range results {
					sameBits(t, fmt.Sprintf("rank %d", rank), got, results[0])
					if v := float64(got[500]); !math.IsNaN(v) && !math.IsInf(v, 0) {
						t.Errorf("rank %d: the element is %v, want one that is not finite", rank, v)
					}
				}
			})
		}
	}
}

// TestTails verifies that every rank gets every tail unchanged, for every codec, also with
// empty chunks.
func TestTails(t *testing.T) {
	tail := func(rank, n int) []byte {
		return bytes.Repeat([]byte{byte(rank + 1), byte(n), 0xff, 0}, ring.TailBytes/4)
	}
	for _, p := range []int{1, 2, 3, 8} {
		in := allInputs(p)
		for _, lossless := range compressors() {
			for _, c := range codec.All() {
				ringtest.Run(t, p, small(lossless), func(g *ring.Group) error {
					rank := g.Membership().Rank
					for i, n := range lengths(p) {
						tails := make([]byte, p*ring.TailBytes)
						copy(tails[rank*ring.TailBytes:], tail(rank, n))
						buf := slices.Clone(in[i][rank])
						if err := g.AllReduce(t.Context(), ring.Reduction{Buf: buf, Codec: c, Tails: tails}); err != nil {
							return err
						}
						if err := checkSum(c, in[i], buf); err != nil {
							return err
						}
						for r := range p {
							if got := tails[r*ring.TailBytes:][:ring.TailBytes]; !bytes.Equal(got, tail(r, n)) {
								return fmt.Errorf("codec=%v n=%d: tail of rank %d is %x", c, n, r, got)
							}
						}
					}
					return nil
				})
			}
		}
	}
}

// TestTailsCostNoFrames verifies that a tail travels in a frame that is sent anyway.
func TestTailsCostNoFrames(t *testing.T) {
	const p, n = 4, 5000
	sent := func(tails []byte) (total int64) {
		ringtest.Run(t, p, small(nil), func(g *ring.Group) error {
			err := g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, n), Tails: bytes.Clone(tails)})
			if g.Membership().Rank == 0 {
				total, _ = g.SentBytes()
			}
			return err
		})
		return total
	}
	got := sent(make([]byte, p*ring.TailBytes)) - sent(nil)
	if want := int64((p - 1) * ring.TailBytes); got != want {
		t.Errorf("tails cost %d bytes, want %d", got, want)
	}
}

// TestErrorFeedback verifies that with error feedback the mean of many sums of the same
// gradients is nearly exact. Without feedback the mean is as wrong as each sum.
func TestErrorFeedback(t *testing.T) {
	const p, n, rounds = 3, 1000, 200
	for _, c := range codec.All() {
		if !c.Lossy() {
			continue
		}
		t.Run(fmt.Sprintf("codec=%v", c), func(t *testing.T) {
			without, with := bias(t, c, p, n, rounds, false), bias(t, c, p, n, rounds, true)
			t.Logf("relative bias over %d sums: %.1e, with feedback %.1e", rounds, without, with)
			if !(with <= without/50) {
				t.Errorf("relative bias is %.1e, want less than a fiftieth of %.1e, which it is without feedback", with, without)
			}
		})
	}
}

// bias returns the relative L2 error of the mean of many sums.
func bias(t *testing.T, c codec.Codec, p, n, rounds int, feedback bool) float64 {
	in := inputs(p, n)
	mean := make([]float64, n)
	ringtest.Run(t, p, small(nil), func(g *ring.Group) error {
		rank := g.Membership().Rank
		r := ring.Reduction{Buf: make([]float32, n), Codec: c}
		if feedback {
			r.Residual = make([]float32, n)
		}
		for range rounds {
			copy(r.Buf, in[rank])
			if err := g.AllReduce(t.Context(), r); err != nil {
				return err
			}
			if rank == 0 {
				for i, v := range r.Buf {
					mean[i] += float64(v) / float64(rounds)
				}
			}
		}
		return nil
	})
	var diff, norm float64
	for i := range mean {
		want := 0.0
		for r := range in {
			want += float64(in[r][i])
		}
		diff += (mean[i] - want) * (mean[i] - want)
		norm += want * want
	}
	return math.Sqrt(diff / norm)
}

// TestResidualKeepsTheSum verifies that the residuals of all ranks add up, nearly to the last
// digit, to what the sum lacks. Otherwise error feedback would forget a part of it or count it
// twice.
func TestResidualKeepsTheSum(t *testing.T) {
	const p, n = 5, 3001
	for _, c := range codec.All() {
		in := inputs(p, n)
		residuals, results := make([][]float32, p), make([][]float32, p)
		ringtest.Run(t, p, small(nil), func(g *ring.Group) error {
			rank := g.Membership().Rank
			r := ring.Reduction{Buf: inputs(p, n)[rank], Residual: make([]float32, n), Codec: c}
			residuals[rank], results[rank] = r.Residual, r.Buf
			return g.AllReduce(t.Context(), r)
		})
		for i := range n {
			var want, got float64
			for r := range p {
				want += float64(in[r][i])
				got += float64(residuals[r][i])
			}
			got += float64(results[0][i])
			if !(math.Abs(got-want) <= 1e-4) {
				t.Fatalf("codec=%v: element %d: sum and residuals make %g, want %g", c, i, got, want)
			}
		}
	}
}
