package bucket

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// TestSetCodec changes the codec every two steps. It verifies the sums of each step, and that
// the buckets follow the codec: back at none they are those of a reducer that began with none.
func TestSetCodec(t *testing.T) {
	for _, p := range []int{1, 3} {
		t.Run(fmt.Sprintf("world=%d", p), func(t *testing.T) {
			ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
				vars, rank := model(), g.Membership().Rank
				w := &watched{Group: g}
				r := mustReducer(t, w, vars, Config{ErrorFeedback: true, BucketBytes: modelBucket})
				defer r.Close()
				for _, c := range []codec.Codec{nil, codec.Int8, codec.BF16, codec.None, codec.Int8} {
					r.SetCodec(c)
					for step := range 2 {
						w.lengths = nil
						r.Begin(t.Context())
						backward(r, rank, reverse(len(vars)))
						if err := r.Wait(); err != nil {
							return err
						}
						if got := lengths(r.Plan()); p > 1 && !slices.Equal(w.lengths, got) {
							t.Errorf("codec=%v: reduces buckets of %v, the plan has %v", c, w.lengths, got)
						}
						for i, v := range vars {
							lossy := c != nil && c.Lossy() && p > 1 && !v.Exact && v.Len == 4096
							checkSum(t, fmt.Sprintf("codec=%v step=%d: %s", c, step, v.Name), r.Grad(i), oracle(p, i, v.Len), lossy)
						}
					}
				}
				alone := mustReducer(t, g, vars, Config{Codec: codec.None, BucketBytes: modelBucket})
				defer alone.Close()
				r.SetCodec(codec.None)
				if got, want := lengths(r.Plan()), lengths(alone.Plan()); !slices.Equal(got, want) {
					t.Errorf("back at none the buckets are %v, want %v", got, want)
				}
				return nil
			})
		})
	}
}

func lengths(p Plan) []int {
	var n []int
	for _, b := range p.Buckets {
		n = append(n, b.Len)
	}
	return n
}

// TestSetCodecForgets verifies that no residual outlives a change of codec: two reducers agree
// from the change on.
func TestSetCodecForgets(t *testing.T) {
	vars := []Variable{{Name: "kernel", Len: 2048}}
	ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
		var sums [][]float32
		for range 2 {
			r := mustReducer(t, g, vars, Config{Codec: codec.Int8, ErrorFeedback: true})
			defer r.Close()
			steps := 1 + 3*len(sums) // the second reducer has a residual by now
			for range steps {
				r.SetCodec(codec.Int8)
				r.Begin(t.Context())
				backward(r, g.Membership().Rank, []int{0})
				if err := r.Wait(); err != nil {
					return err
				}
			}
			sums = append(sums, slices.Clone(r.Grad(0)))
		}
		if !slices.Equal(sums[0], sums[1]) {
			t.Error("what was lost before SetCodec comes back")
		}
		return nil
	})
}

// TestCodedBytes verifies that only buckets from the bound on are encoded.
func TestCodedBytes(t *testing.T) {
	vars := []Variable{{Name: "small", Len: 2047}, {Name: "large", Len: 2048}}
	ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
		r := mustReducer(t, g, vars, Config{Codec: codec.Int8, BucketBytes: 4096, CodedBytes: 8192})
		defer r.Close()
		r.Begin(t.Context())
		backward(r, g.Membership().Rank, reverse(2))
		if err := r.Wait(); err != nil {
			return err
		}
		for i, v := range vars {
			checkSum(t, v.Name, r.Grad(i), oracle(2, i, v.Len), v.Name == "large")
		}
		return nil
	})
}

// TestSumOverflows adds finite gradients whose sum is not finite. It verifies that every rank
// learns the variable, and that the residual does not spoil the next step.
func TestSumOverflows(t *testing.T) {
	const p, bad = 3, 2 // b/kernel
	for _, c := range []codec.Codec{codec.BF16, codec.FP16, codec.Int8} {
		t.Run("codec="+c.String(), func(t *testing.T) {
			ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
				vars, rank := model(), g.Membership().Rank
				r := mustReducer(t, g, vars, Config{Codec: c, ErrorFeedback: true, BucketBytes: modelBucket})
				defer r.Close()
				for step := range 2 {
					r.Begin(t.Context())
					for _, i := range reverse(len(vars)) {
						fill(r.Grad(i), seedOf(rank, i))
						if step == 0 && i == bad && rank > 0 {
							r.Grad(i)[7] = 2e38
						}
						r.Ready(i)
					}
					if err := r.Wait(); err != nil {
						return err
					}
					want := 0
					if step == 0 {
						want = bad + 1
					}
					if got := r.NonFinite(); got != want {
						t.Errorf("rank %d step %d: NonFinite is %d, want %d", rank, step, got, want)
					}
					for q, tail := range r.Tails() {
						if tail.NonFinite != 0 {
							t.Errorf("rank %d step %d: rank %d is said to have a gradient that is not finite", rank, step, q)
						}
					}
				}
				for i, v := range vars { // the residual does not hold the value
					checkSum(t, v.Name, r.Grad(i), oracle(p, i, v.Len), !v.Exact && v.Len == 4096)
					if i == bad && math.IsNaN(float64(r.Grad(i)[7])) {
						t.Error("the step after it is spoilt too")
					}
				}
				return nil
			})
		})
	}
}
