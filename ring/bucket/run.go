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
		if r.err == nil {
			start := time.Now()
			r.err = r.reduce(b)
			r.busy += time.Since(start)
		}
		if b == len(r.plan.Buckets)-1 {
			r.done <- struct{}{}
		}
	}
}

// reduce sums bucket b and folds the tails that came with it.
func (r *Reducer) reduce(b int) error {
	k := &r.plan.Buckets[b]
	if v := r.firstNonFinite(k); v != 0 && (r.own.NonFinite == 0 || v < r.own.NonFinite) {
		r.own.NonFinite = v
	}
	r.own.put(r.tailOf(r.rank))
	if r.size > 1 {
		if err := r.group.AllReduce(r.ctx, r.reduction(k)); err != nil {
			return fmt.Errorf("bucket %d of %d: %w", b, len(r.plan.Buckets), err)
		}
		r.bytes += int64(4 * k.Len)
	}
	for rank := range r.tails {
		t, err := parseTail(r.tailOf(rank), len(r.places))
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

// reduction is what the ring does with bucket k.
func (r *Reducer) reduction(k *Bucket) ring.Reduction {
	from, to := k.Offset, k.Offset+k.Len
	red := ring.Reduction{Buf: r.arena[from:to], Codec: codec.None, Tails: r.wire}
	if !k.Exact {
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
		at := k.Offset + s.Offset
		if !vec.Finite(r.arena[at : at+s.Len]) {
			first = int32(s.Variable) + 1
		}
	}
	return first
}

func (r *Reducer) tailOf(rank int) *[ring.TailBytes]byte {
	return (*[ring.TailBytes]byte)(r.wire[rank*ring.TailBytes:])
}
