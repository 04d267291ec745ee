package bucket

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/cost"
)

// TestTiming verifies on a fake clock that the times of a step are those of its own buckets
// and backward, without waits for later ranks.
func TestTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vars := []Variable{{Len: 2048}, {Len: 10, Exact: true}, {Len: 4096}}
		r := mustReducer(t, scripted{2, func(_ context.Context, red ring.Reduction) error {
			time.Sleep(time.Duration(len(red.Buf)) * time.Millisecond)
			return nil
		}}, vars, Config{BucketBytes: 8192})
		defer r.Close()
		r.Time(true)
		begun := time.Now()
		r.Begin(t.Context())
		for i, after := range []time.Duration{2, 1, 0} {
			time.Sleep(after * time.Second)
			r.Ready(2 - i)
		}
		time.Sleep(time.Second)
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		const s, ms = time.Second, time.Millisecond
		if got, want := r.Took(), []time.Duration{4096 * ms, 2058 * ms}; !slices.Equal(got, want) {
			t.Errorf("buckets took %v, want %v", got, want)
		}
		if took := time.Since(begun); took < 2*time.Hour {
			t.Errorf("the step took %v: the ranks did not begin each bucket together", took)
		}
		left := r.Left()
		if want := []time.Duration{s, s, 2 * s}; !slices.Equal(left, want) {
			t.Errorf("of backward were left %v, want %v", left, want)
		}
		want := []cost.Bucket{{Bytes: 4 * 4096, Left: 2 * s}, {Bytes: 40, Exact: true, Left: s}, {Bytes: 4 * 2048, Left: s}}
		if d := cmp.Diff(want, r.Coded(left)); d != "" {
			t.Errorf("buckets of a lossy codec differ (-want +got):\n%s", d)
		}
	})
}

// TestCodings verifies that the measured rates are of the named codec and positive, that
// measuring does not change the gradients, and that it ends where no time passes, as in the
// bubble.
func TestCodings(t *testing.T) {
	measure := func(t *testing.T) {
		r := mustReducer(t, scripted{1, nil}, []Variable{{Len: 5000}}, Config{ErrorFeedback: true})
		defer r.Close()
		fill(r.Grad(0), 1)
		before := slices.Clone(r.Grad(0))
		got, add := r.Codings([]codec.Codec{codec.BF16, codec.Int8}, time.Millisecond)
		if len(got) != 2 || got[0].Name != "bf16" || got[0].Ratio != 2 || got[1].Name != "int8" || got[1].Ratio < 3.9 || got[1].Ratio > 4 {
			t.Errorf("codings are %+v", got)
		}
		for _, v := range []float64{add, got[0].Encode, got[0].Decode, got[1].Encode, got[1].Decode} {
			if !(v > 1e6 && v < 1e18) {
				t.Errorf("a rate is %g bytes/s: %+v, adding %g", v, got, add)
			}
		}
		if !slices.Equal(before, r.Grad(0)) {
			t.Error("the gradients have changed")
		}
	}
	t.Run("clock=real", measure)
	t.Run("clock=still", func(t *testing.T) { synctest.Test(t, measure) })
}
