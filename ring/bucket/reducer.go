package bucket

import (
	"context"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
)

// DefaultBucketBytes is the size of a bucket if Config gives none.
const DefaultBucketBytes = 4 << 20

// Config configures a Reducer. It must be equal on all ranks of a job.
type Config struct {
	Codec         codec.Codec // nil: none
	ErrorFeedback bool        // keep what a lossy codec loses, and add it in the next step
	BucketBytes   int         // a bucket is full from here on; 0: DefaultBucketBytes
	CodedBytes    int         // a smaller bucket goes without codec; 0: none does
}

// collective is the part of ring.Group that a Reducer needs.
type collective interface {
	Membership() ring.Membership
	Compresses() bool
	Arena(ctx context.Context, n int) ([]float32, error)
	AllReduce(ctx context.Context, r ring.Reduction) error
	Barrier(ctx context.Context) error
	NewRowSum(ctx context.Context, tables []ring.Table) (*ring.RowSum, error)
	SumRows(ctx context.Context, s *ring.RowSum, dense []float32, tails []byte) error
}

// A Reducer sums a model's gradients over all ranks, one bucket after the other, while backward
// still computes. One goroutine at a time calls its methods. A call out of order is a bug of
// the caller and panics.
//
// At world size 1 nothing is summed or encoded, and the tails are those of this rank. A codec
// is used only if the group compresses.
type Reducer struct {
	group    collective
	config   Config
	plain    layout  // without a lossy codec
	lossy    layout  // with one
	plan     *layout // the one in force: one of these, or one of SetLowRank
	vars     []Variable
	arena    []float32  // the gradients
	residual []float32  // as long as the arena, or nil
	rows     *rows      // of variables by rows, nil if there is none
	factors  []*factors // by bucket of SetLowRank's plan, nil for exact ones; else nil
	rank     int
	size     int

	// Of the caller's goroutine.
	inStep  bool
	started bool // a variable of this step is ready
	closed  bool
	ready   []bool        // by variable
	missing []int         // by bucket: variables that are not ready
	next    int           // the bucket that leaves next
	reduced time.Duration // in which buckets were being summed, until Reduced returns it
	times   times

	// Of the goroutine from the first bucket of a step until done; with one bucket, of Wait.
	ctx       context.Context // the step's
	own       Tail            // this rank's
	tailBytes []byte          // all ranks' tails as they travel
	tails     []Tail          // all ranks' tails, folded over the buckets so far
	busy      time.Duration   // in this step
	overflow  int32           // 1 + variable whose sum is not finite, 0 if none
	err       error           // the first failure

	queue chan int      // buckets that may leave, in the order of the plan
	done  chan struct{} // the last bucket of the step is through
	ended chan struct{} // the goroutine has returned
}

// NewReducer returns the reducer of a model's variables, given in forward order, and starts its
// goroutine. Close ends the goroutine; g remains the caller's. All ranks call NewReducer
// together, for the arena.
//
// The reducer takes one arena of the group, with 4 bytes per element of the variables that are
// not by rows. The residual takes as much again if the codec is lossy and c.ErrorFeedback is
// set. Without a lossy codec all variables are exact and share buckets. SetCodec and SetLowRank
// can change that between two steps.
func NewReducer(ctx context.Context, g *ring.Group, vars []Variable, c Config) (*Reducer, error) {
	return newReducer(ctx, g, vars, c)
}

func newReducer(ctx context.Context, g collective, vars []Variable, c Config) (*Reducer, error) {
	if c.BucketBytes == 0 {
		c.BucketBytes = DefaultBucketBytes
	}
	m := g.Membership()
	plain, lossy, err := newLayouts(vars, c.BucketBytes)
	if err != nil {
		return nil, err
	}
	elements := 0
	for _, v := range vars {
		if !v.ByRows {
			elements += v.Len
		}
	}
	most := len(vars) + 1 // buckets, of any plan
	arena, err := g.Arena(ctx, elements+most*cacheLine)
	if err != nil {
		return nil, err
	}
	r := &Reducer{
		group: g, config: c, plain: plain, lossy: lossy, rank: m.Rank, size: m.Size(),
		vars:      slices.Clone(vars),
		arena:     arena,
		ready:     make([]bool, len(vars)),
		missing:   make([]int, most),
		times:     times{filled: make([]time.Time, len(vars)), took: make([]time.Duration, most)},
		tailBytes: make([]byte, m.Size()*ring.TailBytes),
		tails:     make([]Tail, m.Size()),
		queue:     make(chan int, most), // so that Ready never blocks
		done:      make(chan struct{}, 1),
		ended:     make(chan struct{}),
	}
	if r.rows, err = newRows(ctx, g, vars); err != nil {
		return nil, err
	}
	r.SetCodec(c.Codec)
	go r.run()
	return r, nil
}

// Grad returns the gradient of variable i, a view into its bucket that is valid until Close,
// SetCodec or SetLowRank. Backward writes all of it between Begin and Ready(i). From Ready to
// Wait it belongs to the reducer. From Wait to the next Begin it holds the sum over all ranks,
// and the caller may change it. For a variable by rows it is empty.
func (r *Reducer) Grad(i int) []float32 {
	p := r.plan.placements[i]
	return r.arena[p.offset : p.offset+p.len : p.offset+p.len]
}

// Close ends the goroutine of the reducer. It waits for a running operation: end the context of
// the step, or close the group, first. Close may be called more than once and always returns
// nil.
func (r *Reducer) Close() error {
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	<-r.ended
	return nil
}
