package bucket

import (
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/vec"
)

// run is the reducer's goroutine. After the first error it takes buckets from
// the queue but reduces none, so that nobody waits for it in vain.
func (r *Reducer) run() {
	defer close(r.ended)
	for b := range r.queue {
		r.pass(b)
		if b == len(r.plan.Buckets)-1 {
			r.done <- struct{}{}
		}
	}
}

// pass reduces bucket b, unless a step has failed before.
func (r *Reducer) pass(b int) {
	if r.err == nil {
		start := time.Now()
		r.err = r.reduce(b)
		r.busy += time.Since(start)
	}
}

// reduce sums bucket b and folds the tails that came with it.
func (r *Reducer) reduce(b int) error {
	k := &r.plan.Buckets[b]
	r.own.NonFinite = lowest(r.own.NonFinite, r.firstNonFinite(k))
	if len(k.Tables) > 0 {
		r.own.NonFinite = lowest(r.own.NonFinite, r.rows.bad())
	}
	r.own.put(r.tailOf(r.rank))
	if r.size > 1 || len(k.Tables) > 0 {
		if err := r.sum(b, k); err != nil {
			return fmt.Errorf("bucket %d of %d: %w", b, len(r.plan.Buckets), err)
		}
	}
	for rank := range r.tails {
		t, err := parseTail(r.tailOf(rank), len(r.ready))
		if err != nil {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("bucket %d of %d: tail of rank %d: %w", b, len(r.plan.Buckets), rank, err))
		}
		if b == 0 {
			r.tails[rank] = t
		} else {
			r.tails[rank].fold(t)
		}
	}
	return nil
}

// sum has the ring sum bucket b. A codec makes a sum that overflows spoil the
// elements around it, so whether all are finite is looked at here, while they
// lie in the cache. Without a codec the next loss shows it.
func (r *Reducer) sum(b int, k *Bucket) error {
	if r.timed {
		if err := r.group.Barrier(r.ctx); err != nil {
			return err
		}
	}
	start := time.Now()
	lossy, err := r.exchange(b, k)
	if err != nil {
		return err
	}
	r.took[b] = time.Since(start)
	r.bytes += int64(4 * k.Len)
	if lossy {
		r.overflow = lowest(r.overflow, r.firstNonFinite(k))
	}
	return nil
}

// exchange sums bucket b in the way that it goes, and tells whether that lost
// something.
func (r *Reducer) exchange(b int, k *Bucket) (lossy bool, err error) {
	if r.factors != nil && r.factors[b] != nil {
		return true, r.sumFactors(k, r.factors[b])
	}
	red := r.reduction(k)
	if len(k.Tables) > 0 {
		r.bytes += r.rows.bytes()
		err := r.rows.sum.Sum(r.ctx, red.Buf, red.Tails)
		if err == nil {
			r.overflow = lowest(r.overflow, r.rows.overflow())
		}
		return false, err
	}
	return red.Codec.Lossy(), r.group.AllReduce(r.ctx, red)
}

// reduction is what the ring does with bucket k.
func (r *Reducer) reduction(k *Bucket) ring.Reduction {
	from, to := k.Offset, k.Offset+k.Len
	red := ring.Reduction{Buf: r.arena[from:to], Codec: codec.None, Tails: r.wire}
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

// lowest is the lower of two variables, counted from 1; 0 is none.
func lowest(a, b int32) int32 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func (r *Reducer) tailOf(rank int) *[ring.TailBytes]byte {
	return (*[ring.TailBytes]byte)(r.wire[rank*ring.TailBytes:])
}
