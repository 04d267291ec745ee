package ring_test

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// TestAllocatesNothing verifies that an operation allocates nothing once its memory has grown.
func TestAllocatesNothing(t *testing.T) {
	const p = 3
	var cases []struct {
		name string
		op   func(g *ring.Group) func() error
	}
	add := func(name string, op func(g *ring.Group) func() error) {
		cases = append(cases, struct {
			name string
			op   func(g *ring.Group) func() error
		}{name, op})
	}
	for _, c := range append(codec.All(), nil) {
		for _, n := range []int{100, 5000} { // below and above the limit of eager sends
			add(fmt.Sprintf("all-reduce/codec=%v/n=%d", c, n), func(g *ring.Group) func() error {
				r := ring.Reduction{Buf: make([]float32, n), Residual: make([]float32, n), Codec: c, Tails: make([]byte, p*ring.TailBytes)}
				return func() error { return g.AllReduce(t.Context(), r) }
			})
		}
	}
	for _, n := range []int{10, 5000} {
		add(fmt.Sprintf("all-gather/n=%d", n), func(g *ring.Group) func() error {
			mine, dst := make([]byte, n), new(ring.Gathered)
			return func() error { return g.AllGather(t.Context(), mine, dst) }
		})
	}
	add("barrier", func(g *ring.Group) func() error {
		return func() error { return g.Barrier(t.Context()) }
	})
	for _, lossless := range []codec.Compressor{nil, codec.NewZstd()} {
		if lossless != nil && raceDetector {
			continue // zstd keeps tables in a sync.Pool
		}
		for _, c := range cases {
			t.Run(fmt.Sprintf("lossless=%v/%s", lossless, c.name), func(t *testing.T) {
				if n := allocations(t, small(lossless), p, c.op); n != 0 {
					t.Errorf("%v allocations per operation of all ranks, want 0", n)
				}
			})
		}
	}
}

// allocations returns the mean number of objects that all ranks allocate in one operation.
func allocations(t *testing.T, cfg ring.Config, p int, op func(g *ring.Group) func() error) (n float64) {
	ringtest.Run(t, p, cfg, func(g *ring.Group) error {
		got, err := allocationsOf(g, op(g))
		if g.Membership().Rank == 0 {
			n = got
		}
		return err
	})
	return n
}

// allocationsOf runs do on each rank. On rank 0 it returns the mean number of objects that all
// ranks allocate in one run.
func allocationsOf(g *ring.Group, do func() error) (n float64, err error) {
	const warm, runs = 4, 20
	for range warm {
		if err := do(); err != nil {
			return 0, err
		}
	}
	if g.Membership().Rank != 0 {
		for range runs + 1 { // AllocsPerRun has one more run, which it does not count
			if err := do(); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}
	n = testing.AllocsPerRun(runs, func() {
		if e := do(); e != nil {
			err = e
		}
	})
	return n, err
}
