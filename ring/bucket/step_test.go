package bucket

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// TestTails verifies that a rank's loss, requests and digest reach every rank exactly, in
// their own step only.
func TestTails(t *testing.T) {
	for _, p := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("world=%d", p), func(t *testing.T) {
			tailOf := func(step, rank int) Tail {
				return Tail{Loss: math.Pi * float64(step+rank), Examples: int64(10*step + rank),
					Stop: int32(130 * (rank % 2)), Checkpoint: rank == step, Digest: math.MaxUint64 - uint64(rank)}
			}
			ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
				vars, rank := model(), g.Membership().Rank
				r := mustReducer(t, g, vars, Config{Codec: codec.BF16, BucketBytes: modelBucket})
				defer r.Close()
				for step := range 3 {
					r.Begin(t.Context())
					if step < 2 { // in the last step nobody reports
						r.Report(tailOf(step, rank))
					}
					backward(r, rank, reverse(len(vars)))
					if err := r.Wait(); err != nil {
						return err
					}
					want := make([]Tail, p)
					for q := range want {
						if step < 2 {
							want[q] = tailOf(step, q)
						}
					}
					if !slices.Equal(r.Tails(), want) {
						t.Errorf("rank %d step %d: tails are %+v, want %+v", rank, step, r.Tails(), want)
					}
				}
				return nil
			})
		})
	}
}

// TestNonFinite spoils two variables on one rank, in different buckets. It verifies that every
// rank learns which rank and variable it was, and that the residual does not spoil the next
// step.
func TestNonFinite(t *testing.T) {
	const p, culprit = 3, 1
	ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
		vars, rank := model(), g.Membership().Rank
		r := mustReducer(t, g, vars, Config{Codec: codec.Int8, ErrorFeedback: true, BucketBytes: modelBucket})
		defer r.Close()
		for step := range 2 {
			r.Begin(t.Context())
			for _, i := range reverse(len(vars)) {
				fill(r.Grad(i), seedOf(rank, i))
				if step == 0 && rank == culprit && (i == 2 || i == 4) {
					r.Grad(i)[vars[i].Len-1] = float32(math.Inf(-1))
				}
				r.Ready(i)
			}
			if err := r.Wait(); err != nil {
				return err
			}
			for q, tail := range r.Tails() {
				want := int32(0)
				if step == 0 && q == culprit {
					want = 3 // variable 2, b/kernel
				}
				if tail.NonFinite != want {
					t.Errorf("rank %d step %d: NonFinite of rank %d is %d, want %d", rank, step, q, tail.NonFinite, want)
				}
			}
		}
		for i, v := range vars {
			checkSum(t, v.Name, r.Grad(i), oracle(p, i, v.Len), !v.Exact && v.Len == 4096)
		}
		return nil
	})
}

// TestWorldSizeOne verifies that a single worker uses no codec and no ring, and has its own
// tail.
func TestWorldSizeOne(t *testing.T) {
	vars := model()
	r := mustReducer(t, scripted{1, func(context.Context, ring.Reduction) error {
		return errors.New("the ring is asked")
	}}, vars, Config{Codec: codec.Int8, ErrorFeedback: true, BucketBytes: modelBucket})
	defer r.Close()
	r.Begin(t.Context())
	r.Report(Tail{Examples: 7})
	fill(r.Grad(0), 1)
	r.Grad(3)[5] = float32(math.NaN())
	for _, i := range reverse(len(vars)) {
		r.Ready(i)
	}
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	want := make([]float32, vars[0].Len)
	fill(want, 1)
	if !slices.Equal(r.Grad(0), want) {
		t.Error("the gradient has changed")
	}
	if got := r.Tails(); len(got) != 1 || got[0] != (Tail{Examples: 7, NonFinite: 4}) {
		t.Errorf("tails are %+v", got)
	}
}

// TestPlansLeaveNothing verifies that Begin touches no gradients, which backward is about to
// write, and that a change of the plan leaves nothing behind between the variables, where it
// would be summed in every step.
func TestPlansLeaveNothing(t *testing.T) {
	vars := model()
	r := mustReducer(t, scripted{2, func(context.Context, ring.Reduction) error { return nil }}, vars,
		Config{Codec: codec.None, ErrorFeedback: true, BucketBytes: modelBucket})
	defer r.Close()
	for i := range vars {
		fill(r.Grad(i), uint64(i)+1)
	}
	kept := slices.Clone(r.Grad(0))
	r.Begin(t.Context())
	if !slices.Equal(r.Grad(0), kept) {
		t.Error("Begin touches gradients that backward is about to write")
	}
	for _, i := range reverse(len(vars)) {
		fill(r.Grad(i), uint64(i)+1)
		r.Ready(i)
	}
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []codec.Codec{codec.Int8, codec.None} {
		r.SetCodec(c)
		for i := range vars {
			clear(r.Grad(i))
		}
		if at := slices.IndexFunc(r.arena, func(v float32) bool { return v != 0 }); at >= 0 {
			t.Errorf("with codec %v element %d of the arena is left from another plan", c, at)
		}
	}
}

// TestOneBucketStaysHere verifies that a bucket without others is summed by Wait itself, on its goroutine, once a step and
// after the variables are ready; and that an error of it is returned by this step and those after it, without another sum.
func TestOneBucketStaysHere(t *testing.T) {
	broken := errors.New("peer rank 1 is gone")
	vars, sums, waits := []Variable{{Name: "kernel", Len: 100}, {Name: "bias", Len: 10}}, 0, false
	var fails error
	r := mustReducer(t, scripted{2, func(_ context.Context, red ring.Reduction) error {
		if !waits || len(red.Tails) == 0 { // the race detector would report a write of another goroutine
			t.Error("the bucket left before Wait")
		}
		sums++
		return fails
	}}, vars, Config{})
	defer r.Close()
	for step := range 5 {
		if step == 3 {
			fails = broken
		}
		r.Begin(t.Context())
		for _, i := range reverse(len(vars)) {
			fill(r.Grad(i), 1)
			r.Ready(i)
		}
		waits = true
		err := r.Wait()
		waits = false
		if want := min(step+1, 4); sums != want || errors.Is(err, broken) != (step >= 3) {
			t.Errorf("step %d: %d sums and %v, want %d", step, sums, err, want)
		}
	}
	if d := r.Reduced(); d <= 0 {
		t.Errorf("the sums took %v", d)
	}
}

// TestRingError verifies that an error of the ring ends the step with this error, and that no
// later bucket goes to the ring.
func TestRingError(t *testing.T) {
	broken := exitcode.With(exitcode.Retry, errors.New("peer rank 1 is gone"))
	calls := 0
	vars := model()
	r := mustReducer(t, scripted{2, func(context.Context, ring.Reduction) error {
		if calls++; calls == 2 {
			return broken
		}
		return nil
	}}, vars, Config{Codec: codec.Int8, BucketBytes: modelBucket})
	for range 2 {
		r.Begin(t.Context())
		backward(r, 0, reverse(len(vars)))
		err := r.Wait()
		if !errors.Is(err, broken) || exitcode.Of(err) != exitcode.Retry || !strings.HasPrefix(err.Error(), "bucket 1 of 4: ") {
			t.Errorf("error is %v with code %d, want bucket 1's", err, exitcode.Of(err))
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if calls != 2 {
		t.Errorf("the ring was asked %d times, want 2", calls)
	}
}

// TestBadTail verifies that an invalid tail is refused.
func TestBadTail(t *testing.T) {
	r := mustReducer(t, scripted{3, func(_ context.Context, red ring.Reduction) error {
		red.Tails[2*ring.TailBytes] = 9
		return nil
	}}, []Variable{{Len: 1}}, Config{})
	defer r.Close()
	r.Begin(t.Context())
	r.Ready(0)
	err := r.Wait()
	if err == nil || err.Error() != "bucket 0 of 1: tail of rank 2: version is 9, want 6" || exitcode.Of(err) != exitcode.Protocol {
		t.Errorf("error is %v with code %d", err, exitcode.Of(err))
	}
}

// TestContextEnds verifies that Wait and Close of a rank return when its context ends while
// rank 1 stays away.
func TestContextEnds(t *testing.T) {
	stop := errors.New("stop")
	reason := make(chan error, 1)
	ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
		if g.Membership().Rank == 1 {
			return nil
		}
		r := mustReducer(t, g, []Variable{{Len: 1}}, Config{})
		ctx, cancel := context.WithCancelCause(t.Context())
		r.Begin(ctx)
		r.Ready(0)
		cancel(stop)
		reason <- r.Wait()
		return r.Close()
	})
	if err := <-reason; !errors.Is(err, stop) {
		t.Errorf("error is %v, want the context's cause", err)
	}
}

// TestCloseInStep verifies that a reducer whose step was given up can be closed, also twice.
func TestCloseInStep(t *testing.T) {
	r := mustReducer(t, scripted{2, func(context.Context, ring.Reduction) error { return nil }}, model(), Config{})
	r.Begin(t.Context())
	r.Ready(6)
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStats verifies the statistics of two buckets of three seconds each and a backward of two
// seconds between them, on a fake clock.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := mustReducer(t, scripted{2, func(context.Context, ring.Reduction) error {
			<-time.After(3 * time.Second)
			return nil
		}}, []Variable{{Len: 2000}, {Len: 3000}}, Config{Codec: codec.BF16, BucketBytes: 4096})
		defer r.Close()
		for range 2 {
			r.Begin(t.Context())
			r.Ready(1)
			<-time.After(2 * time.Second)
			r.Ready(0)
			if err := r.Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.Reduced(); got != 12*time.Second {
			t.Errorf("the sums took %v, want 12 s", got)
		}
		if got := r.Reduced(); got != 0 {
			t.Errorf("the sums took %v after this was taken", got)
		}
	})
}

// TestMisuse verifies that a call out of order panics and names the bug.
func TestMisuse(t *testing.T) {
	for _, tt := range []struct {
		want string
		call func(r *Reducer)
	}{
		{"bucket: Ready before Begin", func(r *Reducer) { r.Ready(0) }},
		{"bucket: Wait before Begin", func(r *Reducer) { r.Wait() }},
		{"bucket: Wait before every variable is ready", func(r *Reducer) { r.Begin(t.Context()); r.Ready(1); r.Wait() }},
		{"bucket: Ready twice in a step", func(r *Reducer) { r.Begin(t.Context()); r.Ready(0); r.Ready(0) }},
		{"bucket: Begin before Wait", func(r *Reducer) { r.Begin(t.Context()); r.Begin(t.Context()) }},
		{"bucket: Begin after Close", func(r *Reducer) { r.Close(); r.Begin(t.Context()) }},
		{"bucket: Report outside of Begin and the first Ready", func(r *Reducer) { r.Report(Tail{}) }},
		{"bucket: Report outside of Begin and the first Ready", func(r *Reducer) { r.Begin(t.Context()); r.Ready(0); r.Report(Tail{}) }},
		{"bucket: Report of a tail out of range", func(r *Reducer) { r.Begin(t.Context()); r.Report(Tail{Stop: -1}) }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			r := mustReducer(t, scripted{1, nil}, model(), Config{})
			defer r.Close()
			defer func() {
				if p := recover(); p != tt.want {
					t.Errorf("panic is %v, want %s", p, tt.want)
				}
			}()
			tt.call(r)
		})
	}
}

// TestNewReducerErrors verifies that a job that cannot be planned is refused and starts no
// goroutine.
func TestNewReducerErrors(t *testing.T) {
	if _, err := newReducer(t.Context(), scripted{1, nil}, nil, Config{}); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error is %v, want code %d", err, exitcode.Usage)
	}
}
