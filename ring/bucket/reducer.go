package bucket

import (
	"context"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
)

// DefaultBucketBytes is the size of a bucket unless Config says another.
const DefaultBucketBytes = 4 << 20

// Config says how gradients are reduced. All ranks of a job must have the same.
type Config struct {
	Codec         codec.Codec // nil: none
	ErrorFeedback bool        // keep what a lossy codec loses, and add it in the next step
	BucketBytes   int         // a bucket is full from here on; 0: DefaultBucketBytes
}

// collective is what a Reducer needs of a ring.Group.
type collective interface {
	Membership() ring.Membership
	Arena(ctx context.Context, n int) ([]float32, error)
	AllReduce(ctx context.Context, r ring.Reduction) error
}

// A Reducer sums a model's gradients over all ranks, one bucket after the
// other, while backward still computes. Its methods are called by one goroutine
// at a time; what they do out of order is the caller's bug and panics.
//
// At world size 1 nothing is summed or encoded, and the tails are this rank's.
type Reducer struct {
	group    collective
	config   Config
	plan     Plan
	places   []where   // by variable
	arena    []float32 // the gradients
	residual []float32 // as long as the arena, or nil
	rank     int
	size     int

	// The caller's side.
	inStep  bool
	started bool // a variable of this step is ready
	closed  bool
	ready   []bool // by variable
	missing []int  // by bucket: variables that are not ready
	next    int    // the bucket that leaves next
	stats   Stats

	// What the goroutine owns from the first bucket of a step until done.
	ctx   context.Context // the step's
	own   Tail            // this rank's
	wire  []byte          // all ranks' tails as they travel
	tails []Tail          // all ranks' tails, folded over the buckets so far
	busy  time.Duration   // in this step
	bytes int64           // of gradients summed in this step
	err   error           // the first failure

	queue chan int      // buckets that may leave, in the order of the plan
	done  chan struct{} // the last bucket of the step is through
	ended chan struct{} // the goroutine has returned
}

// A where says where a variable's gradient lies.
type where struct{ bucket, offset, len int }

// NewReducer makes the reducer of a model's variables, given in forward order,
// and starts its goroutine, which Close ends. g stays the caller's. All ranks
// call it together, for the arena.
//
// Its memory is one arena of the group, 4 bytes per element, and as much again
// for the residual if the codec is lossy and c.ErrorFeedback is set. Without a
// lossy codec all variables are exact and share buckets.
func NewReducer(ctx context.Context, g *ring.Group, vars []Variable, c Config) (*Reducer, error) {
	return newReducer(ctx, g, vars, c)
}

func newReducer(ctx context.Context, g collective, vars []Variable, c Config) (*Reducer, error) {
	if c.BucketBytes == 0 {
		c.BucketBytes = DefaultBucketBytes
	}
	if c.Codec == nil {
		c.Codec = codec.None
	}
	m := g.Membership()
	lossy := c.Codec.Lossy() && m.Size() > 1
	plan, err := NewPlan(exactUnless(lossy, vars), c.BucketBytes)
	if err != nil {
		return nil, err
	}
	arena, err := g.Arena(ctx, plan.Len)
	if err != nil {
		return nil, err
	}
	r := &Reducer{
		group: g, config: c, plan: plan, rank: m.Rank, size: m.Size(),
		places:  make([]where, len(vars)),
		arena:   arena,
		ready:   make([]bool, len(vars)),
		missing: make([]int, len(plan.Buckets)),
		wire:    make([]byte, m.Size()*ring.TailBytes),
		tails:   make([]Tail, m.Size()),
		queue:   make(chan int, len(plan.Buckets)), // so that Ready never blocks
		done:    make(chan struct{}, 1),
		ended:   make(chan struct{}),
	}
	if lossy && c.ErrorFeedback {
		r.residual = make([]float32, plan.Len)
	}
	for b, k := range plan.Buckets {
		for _, s := range k.Spans {
			r.places[s.Variable] = where{b, k.Offset + s.Offset, s.Len}
		}
	}
	go r.run()
	return r, nil
}

// exactUnless returns vars, all of them exact unless the codec is lossy: then
// there is nothing to keep apart.
func exactUnless(lossy bool, vars []Variable) []Variable {
	if lossy {
		return vars
	}
	exact := make([]Variable, len(vars))
	for i, v := range vars {
		v.Exact = true
		exact[i] = v
	}
	return exact
}

// Grad returns the gradient of variable i, a view into its bucket that is valid
// until Close. Backward writes it between Begin and Ready(i); after Wait it
// holds the sum over all ranks until the next Begin. In between it belongs to
// the reducer.
func (r *Reducer) Grad(i int) []float32 {
	p := r.places[i]
	return r.arena[p.offset : p.offset+p.len : p.offset+p.len]
}

// Close ends the reducer's goroutine. An operation that is under way is waited
// for: end the context of the step, or close the group, first. Close may be
// called more than once; its error is always nil.
func (r *Reducer) Close() error {
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	<-r.ended
	return nil
}
