package bucket

import (
	"context"
	"time"
)

// Begin starts a step. It leaves the gradients as they are, and backward must write all of
// them. Gradients by rows start with [Reducer.Rows]. ctx bounds the operations of the step.
func (r *Reducer) Begin(ctx context.Context) {
	switch {
	case r.closed:
		panic("bucket: Begin after Close")
	case r.inStep:
		panic("bucket: Begin before Wait")
	}
	r.inStep, r.started, r.next = true, false, 0
	clear(r.ready)
	for b := range r.missing {
		r.missing[b] = len(r.plan.Buckets[b].Spans) + len(r.plan.Buckets[b].Tables)
	}
	if r.rows != nil {
		r.rows.mine = nil
	}
	clear(r.tails)
	clear(r.times.took)
	r.ctx, r.own, r.busy, r.overflow = ctx, Tail{}, 0, 0
}

// Report sets this rank's tail of the step, before the first Ready. Without Report the tail is
// zero. The reducer fills in t.NonFinite.
func (r *Reducer) Report(t Tail) {
	if !r.inStep || r.started {
		panic("bucket: Report outside of Begin and the first Ready")
	}
	t.NonFinite = 0
	if t.check(0) != nil {
		panic("bucket: Report of a tail out of range")
	}
	r.own = t
}

// Ready reports that the gradient of variable i is complete. A bucket leaves when it is full
// and those before it have left. Ready never blocks.
func (r *Reducer) Ready(i int) {
	switch {
	case !r.inStep:
		panic("bucket: Ready before Begin")
	case r.ready[i]:
		panic("bucket: Ready twice in a step")
	}
	r.started, r.ready[i], r.times.filled[i] = true, true, time.Now()
	r.missing[r.plan.placements[i].bucket]--
	for r.next < len(r.missing) && r.missing[r.next] == 0 {
		if !r.hasOneBucket() {
			r.queue <- r.next
		}
		r.next++
	}
}

// hasOneBucket reports whether the plan has one bucket. Nothing hides its exchange, so Wait
// reduces it on the caller's goroutine.
func (r *Reducer) hasOneBucket() bool { return len(r.plan.Buckets) == 1 }

// Wait ends the step: it blocks until all buckets are summed. It returns the first error of the
// ring, which later steps return again.
func (r *Reducer) Wait() error {
	switch {
	case !r.inStep:
		panic("bucket: Wait before Begin")
	case r.next < len(r.plan.Buckets):
		panic("bucket: Wait before every variable is ready")
	}
	r.times.waited = time.Now()
	if r.hasOneBucket() {
		r.reduce(0)
	} else {
		<-r.done
	}
	r.inStep = false
	r.reduced += r.busy
	if r.err != nil {
		return r.err
	}
	bad := r.overflow
	for _, t := range r.tails {
		bad = lowest(bad, t.NonFinite)
	}
	if bad != 0 {
		r.clearResiduals()
	}
	return nil
}

// NonFinite returns 1 + the index of the first variable whose sum over the ranks, after a lossy
// codec, is not finite, or 0. It concerns the step that Wait has ended and is equal on all
// ranks. If no tail names a variable then the gradients of all ranks were finite and their sum
// was too large.
func (r *Reducer) NonFinite() int { return int(r.overflow) }

// Tails returns all ranks' tails of the last step, by rank, valid until the next Begin. After
// an error they are undefined.
func (r *Reducer) Tails() []Tail { return r.tails }

// Reduced returns the time in which buckets were being summed, in the steps since the last call
// of Reduced.
func (r *Reducer) Reduced() time.Duration {
	took := r.reduced
	r.reduced = 0
	return took
}
