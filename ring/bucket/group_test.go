package bucket

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// model has a kernel of 16 KiB and a bias in each of three layers, and in the
// last one a kernel that is exact because it is small.
func model() []Variable {
	return []Variable{
		{Name: "a/kernel", Len: 4096}, {Name: "a/bias", Len: 64, Exact: true},
		{Name: "b/kernel", Len: 4096}, {Name: "b/bias", Len: 2000, Exact: true},
		{Name: "c/kernel", Len: 4096}, {Name: "c/bias", Len: 10, Exact: true},
		{Name: "d/kernel", Len: 100},
	}
}

const modelBucket = 16 << 10 // bytes: each kernel fills a bucket

// watched is a group that tells which buffers it has summed.
type watched struct {
	*ring.Group
	lengths []int
	summed  chan int // nil: without
}

func (w *watched) AllReduce(ctx context.Context, r ring.Reduction) error {
	w.lengths = append(w.lengths, len(r.Buf))
	err := w.Group.AllReduce(ctx, r)
	if w.summed != nil {
		w.summed <- len(r.Buf)
	}
	return err
}

// scripted is a group of p ranks, seen from rank 0, whose all-reduce is a
// function of the test.
type scripted struct {
	p      int
	reduce func(ctx context.Context, r ring.Reduction) error
}

func (s scripted) Membership() ring.Membership { return ringtest.Membership(s.p, 0) }
func (s scripted) Compresses() bool            { return s.p > 1 }
func (s scripted) Arena(_ context.Context, n int) ([]float32, error) {
	return make([]float32, n), nil
}

func (s scripted) AllReduce(ctx context.Context, r ring.Reduction) error {
	// The other ranks send zero tails.
	for rank := 1; rank < s.p; rank++ {
		(&Tail{}).put((*[ring.TailBytes]byte)(r.Tails[rank*ring.TailBytes:]))
	}
	return s.reduce(ctx, r)
}

// NewRowSum is for tables, of which such a group has none.
func (s scripted) NewRowSum(context.Context, []ring.Table) (*ring.RowSum, error) {
	return nil, errors.New("a scripted group sums no rows")
}

// SumRows is never called.
func (s scripted) SumRows(context.Context, *ring.RowSum, []float32, []byte) error {
	panic("bucket: no tables")
}

// Barrier has the others come an hour later: it is for bubbles.
func (s scripted) Barrier(context.Context) error {
	time.Sleep(time.Hour)
	return nil
}

func mustReducer(t testing.TB, g collective, vars []Variable, c Config) *Reducer {
	t.Helper()
	r, err := newReducer(t.Context(), g, vars, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fill writes whole numbers from -10000 to 10000, of which float32 sums are
// exact and those of the lossy codecs are not.
func fill(dst []float32, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	for i := range dst {
		dst[i] = float32(rnd.IntN(20001) - 10000)
	}
}

// seedOf gives each rank and variable a gradient of its own.
func seedOf(rank, variable int) uint64 { return uint64(1000*rank + variable) }

// oracle returns the sum of variable i over p ranks, filled by seedOf.
func oracle(p, i, n int) []float64 {
	sum, x := make([]float64, n), make([]float32, n)
	for rank := range p {
		fill(x, seedOf(rank, i))
		for j, v := range x {
			sum[j] += float64(v)
		}
	}
	return sum
}

// backward fills every gradient and says that it is ready, in the order given.
func backward(r *Reducer, rank int, order []int) {
	for _, i := range order {
		fill(r.Grad(i), seedOf(rank, i))
		r.Ready(i)
	}
}

// reverse is the order in which backward completes n variables.
func reverse(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = n - 1 - i
	}
	return order
}
