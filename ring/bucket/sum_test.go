package bucket

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// TestSum verifies the sums of several steps by a float64 oracle, for all codecs. A codec must
// not touch the exact bucket: with int8 a bias beside large values becomes zero.
func TestSum(t *testing.T) {
	for _, c := range codec.All() {
		for _, p := range []int{1, 2, 3, 4} {
			t.Run(fmt.Sprintf("codec=%v/world=%d", c, p), func(t *testing.T) {
				ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
					vars, rank := model(), g.Membership().Rank
					r := mustReducer(t, g, vars, Config{Codec: c, ErrorFeedback: true, BucketBytes: modelBucket})
					defer r.Close()
					for range 3 {
						r.Begin(t.Context())
						backward(r, rank, reverse(len(vars)))
						if err := r.Wait(); err != nil {
							return err
						}
						for i, v := range vars {
							lossy := c.Lossy() && p > 1 && !v.Exact && v.Len == 4096
							checkSum(t, v.Name, r.Grad(i), oracle(p, i, v.Len), lossy)
						}
					}
					return nil
				})
			})
		}
	}
}

func checkSum(t *testing.T, name string, got []float32, want []float64, lossy bool) {
	t.Helper()
	var worst float64
	for i, w := range want {
		worst = max(worst, math.Abs(float64(got[i])-w))
	}
	if !lossy && worst != 0 || lossy && !(worst <= 1000) { // sums reach 40000; a NaN fails
		t.Errorf("%s is %g off (lossy: %v)", name, worst, lossy)
	}
	if lossy && worst == 0 {
		t.Errorf("%s is exact: it has not met the codec", name)
	}
}

// TestOrder verifies that buckets are reduced in the order of the plan, with the right sums,
// although each rank's gradients become ready in an order of its own.
func TestOrder(t *testing.T) {
	const p = 3
	vars := model()
	plan, err := NewPlan(vars, modelBucket)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	for _, b := range plan.Buckets {
		want = append(want, b.Len)
	}
	if len(want) < 4 {
		t.Fatalf("the model has only %d buckets", len(want))
	}
	for seed := range uint64(5) {
		ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
			rank := g.Membership().Rank
			w := &watched{Group: g}
			r := mustReducer(t, w, vars, Config{Codec: codec.Int8, BucketBytes: modelBucket})
			defer r.Close()
			r.Begin(t.Context())
			backward(r, rank, rand.New(rand.NewPCG(seed, uint64(rank))).Perm(len(vars)))
			if err := r.Wait(); err != nil {
				return err
			}
			if !slices.Equal(w.lengths, want) {
				t.Errorf("seed=%d rank=%d: reduces buckets of %v, want %v", seed, rank, w.lengths, want)
			}
			for i, v := range vars {
				checkSum(t, v.Name, r.Grad(i), oracle(p, i, v.Len), !v.Exact && v.Len == 4096)
			}
			return nil
		})
	}
}

// TestOverlap verifies that the first bucket is summed before backward is over: each rank's
// last gradient waits for that sum.
func TestOverlap(t *testing.T) {
	ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
		vars, rank := model(), g.Membership().Rank
		w := &watched{Group: g, summed: make(chan int, 8)}
		r := mustReducer(t, w, vars, Config{Codec: codec.Int8, BucketBytes: modelBucket})
		defer r.Close()
		r.Begin(t.Context())
		backward(r, rank, []int{6, 5, 4})
		if got := <-w.summed; got != 4096 {
			t.Errorf("rank %d: the first bucket has %d elements, want those of c/kernel", rank, got)
		}
		backward(r, rank, []int{3, 2, 1, 0})
		return r.Wait()
	})
}

// TestFeedback sums the same gradients many times. It verifies that the residual removes the
// bias of int8.
func TestFeedback(t *testing.T) {
	const p, steps = 2, 50
	vars := []Variable{{Name: "kernel", Len: 2048}}
	bias := map[bool]float64{}
	for _, feedback := range []bool{false, true} {
		ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
			rank := g.Membership().Rank
			r := mustReducer(t, g, vars, Config{Codec: codec.Int8, ErrorFeedback: feedback})
			defer r.Close()
			mean := make([]float64, vars[0].Len)
			for range steps {
				r.Begin(t.Context())
				backward(r, rank, []int{0})
				if err := r.Wait(); err != nil {
					return err
				}
				for i, v := range r.Grad(0) {
					mean[i] += float64(v) / steps
				}
			}
			if rank == 0 {
				for i, want := range oracle(p, 0, len(mean)) {
					bias[feedback] = max(bias[feedback], math.Abs(mean[i]-want))
				}
			}
			return nil
		})
	}
	if !(bias[true] <= bias[false]/10) || bias[false] == 0 {
		t.Errorf("bias is %g with feedback and %g without, want a tenth at most", bias[true], bias[false])
	}
}

// TestStepAllocatesNothing verifies that a step allocates nothing, in all goroutines of two
// ranks.
func TestStepAllocatesNothing(t *testing.T) {
	const runs = 20
	for _, c := range []codec.Codec{codec.None, codec.Int8} {
		t.Run("codec="+c.String(), func(t *testing.T) {
			ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
				vars := model()
				r := mustReducer(t, g, vars, Config{Codec: c, ErrorFeedback: true, BucketBytes: modelBucket})
				defer r.Close()
				ctx, order := context.Background(), reverse(len(vars))
				step := func() {
					r.Begin(ctx)
					r.Report(Tail{Loss: 1, Examples: 2})
					for _, i := range order {
						r.Ready(i)
					}
					if err := r.Wait(); err != nil {
						t.Error(err)
					}
				}
				step() // scratch grows
				if g.Membership().Rank != 0 {
					for range runs + 1 {
						step()
					}
					return nil
				}
				if got := testing.AllocsPerRun(runs, step); got != 0 {
					t.Errorf("a step allocates %g times, want 0", got)
				}
				return nil
			})
		})
	}
}
