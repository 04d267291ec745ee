package bucket

import (
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/vec"
)

// run is the reducer's goroutine. After the first error it takes buckets from the queue but
// reduces none, so that Wait returns.
func (r *Reducer) run() {
	defer close(r.ended)
	for b := range r.queue {
		r.reduce(b)
		if b == len(r.plan.Buckets)-1 {
			r.done <- struct{}{}
		}
	}
}

// reduce sums bucket b over the ranks, by all-reduce, as factors, or with rows, and folds the tails
// that come with it. It does nothing after the first error.
func (r *Reducer) reduce(b int) {
	if r.err != nil {
		return
	}
	begun, k := time.Now(), &r.plan.Buckets[b]
	err := r.prepare(k)
	start := time.Now()
	switch red := r.reduction(k); {
	case err != nil, r.size == 1 && len(k.Tables) == 0:
	case r.factors != nil && r.factors[b] != nil:
		err = r.sumFactors(k, r.factors[b])
		r.summed(b, start, true)
	case len(k.Tables) > 0:
		err = r.sumRows(red)
		r.summed(b, start, false)
	default:
		err = r.group.AllReduce(r.ctx, red)
		r.summed(b, start, red.Codec.Lossy())
	}
	if err == nil {
		err = r.foldTails(b)
	}
	if err != nil {
		r.err = fmt.Errorf("bucket %d of %d: %w", b, len(r.plan.Buckets), err)
	}
	r.busy += time.Since(begun)
}

// prepare puts this rank's tail beside bucket k. In a timed step it then waits for the other ranks.
func (r *Reducer) prepare(k *Bucket) error {
	r.own.NonFinite = lowest(r.own.NonFinite, r.firstNonFinite(k))
	if len(k.Tables) > 0 {
		r.own.NonFinite = lowest(r.own.NonFinite, r.rows.bad())
	}
	r.own.put(r.tailOf(r.rank))
	if r.times.on && (r.size > 1 || len(k.Tables) > 0) {
		return r.group.Barrier(r.ctx)
	}
	return nil
}

// summed notes that bucket b is summed. A lossy codec spreads a sum that overflows over the elements
// around it. So summed looks here whether all are finite, while the elements lie in the cache.
// Without a codec the next loss shows it.
func (r *Reducer) summed(b int, start time.Time, lossy bool) {
	r.times.took[b] = time.Since(start)
	if lossy {
		r.overflow = lowest(r.overflow, r.firstNonFinite(&r.plan.Buckets[b]))
	}
}

// foldTails folds the tails that came with bucket b.
func (r *Reducer) foldTails(b int) error {
	for rank := range r.tails {
		t, err := parseTail(r.tailOf(rank), len(r.ready))
		if err != nil {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("tail of rank %d: %w", rank, err))
		}
		if b == 0 {
			r.tails[rank] = t
		} else {
			r.tails[rank].fold(t)
		}
	}
	return nil
}

// sumRows sums the rows of this step, with the elements and tails of red.
func (r *Reducer) sumRows(red ring.Reduction) error {
	if err := r.group.SumRows(r.ctx, r.rows.sum, red.Buf, red.Tails); err != nil {
		return err
	}
	r.overflow = lowest(r.overflow, r.rows.overflow())
	return nil
}

// reduction returns the all-reduce of bucket k.
func (r *Reducer) reduction(k *Bucket) ring.Reduction {
	from, to := k.Offset, k.Offset+k.Len
	red := ring.Reduction{Buf: r.arena[from:to], Codec: codec.None, Tails: r.tailBytes}
	if !k.Exact && 4*k.Len >= r.config.CodedBytes {
		red.Codec = r.config.Codec
		if r.residual != nil {
			red.Residual = r.residual[from:to]
		}
	}
	return red
}

// firstNonFinite returns 1 + the lowest variable of k whose gradient is not
// finite, or 0.
func (r *Reducer) firstNonFinite(k *Bucket) int32 {
	var first int32
	for _, s := range k.Spans { // from the last variable to the first
		if !vec.Finite(view(r.arena, k, s)) {
			first = int32(s.Variable) + 1
		}
	}
	return first
}

// lowest returns the lower of two variables, counted from 1; 0 is none.
func lowest(a, b int32) int32 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (r *Reducer) tailOf(rank int) *[ring.TailBytes]byte {
	return (*[ring.TailBytes]byte)(r.tailBytes[rank*ring.TailBytes:])
}
