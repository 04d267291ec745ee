package bucket

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// matrices are two that are worth factors of rank 4, and what is not: a bias, a
// matrix too small, a column, a table that is updated by rows.
func matrices() []Variable {
	return []Variable{
		{Name: "a/kernel", Len: 64 * 48, Rows: 64, Cols: 48}, {Name: "a/bias", Len: 48, Exact: true},
		{Name: "b/kernel", Len: 48 * 40, Rows: 48, Cols: 40}, {Name: "b/bias", Len: 40, Exact: true},
		{Name: "c/kernel", Len: 30 * 30, Rows: 30, Cols: 30}, {Name: "d/kernel", Len: 2048, Rows: 2048, Cols: 1},
		{Name: "table", Len: 64 * 64},
	}
}

// factored tells whether SetLowRank sends variable i of matrices as factors.
func factored(i int) bool { return i == 0 || i == 2 }

const lowRankOfTest = 4

// startLowRank is a reducer of matrices in which factors are on.
func startLowRank(t *testing.T, g collective, vars []Variable) *Reducer {
	t.Helper()
	r := mustReducer(t, g, vars, Config{})
	if err := r.SetLowRank(t.Context(), lowRankOfTest, 7); err != nil {
		t.Fatal(err)
	}
	return r
}

// oneStep sums the gradients that fill writes, of each variable.
func oneStep(t *testing.T, r *Reducer, n int, fill func(i int, dst []float32)) error {
	r.Begin(t.Context())
	for _, i := range reverse(n) {
		fill(i, r.Grad(i))
		r.Ready(i)
	}
	return r.Wait()
}

// TestLowRankOverSteps sums gradients that stay the same, in one ring and on two levels. It
// verifies that all ranks hold the same bits, that the exact bucket is exact, and that the
// mean over the steps approaches the gradients.
func TestLowRankOverSteps(t *testing.T) {
	const steps = 60
	vars := matrices()
	check := func(p int, run func(fn func(g *ring.Group) error)) {
		sums := make([][][]float32, p) // by rank and variable, of the last step
		run(func(g *ring.Group) error {
			rank := g.Membership().Rank
			r := startLowRank(t, g, vars)
			defer r.Close()
			mean := make([]float64, vars[0].Len)
			for range steps {
				if err := oneStep(t, r, len(vars), func(i int, dst []float32) { fill(dst, seedOf(rank, i)) }); err != nil {
					return err
				}
				for i, v := range vars {
					checkSum(t, v.Name, r.Grad(i), exactOr(r.Grad(i), oracle(p, i, v.Len), factored(i)), false)
				}
				for j, v := range r.Grad(0) {
					mean[j] += float64(v) / steps
				}
			}
			if off := distance(mean, oracle(p, 0, len(mean))); !(off <= 0.2) {
				t.Errorf("rank %d: the mean of %d sums is %.2f off, want 0.2 at most", rank, steps, off)
			}
			for i := range vars {
				sums[rank] = append(sums[rank], slices.Clone(r.Grad(i)))
			}
			return nil
		})
		for rank := range sums {
			for i, v := range vars {
				if !slices.Equal(sums[rank][i], sums[0][i]) {
					t.Errorf("rank %d has other sums of %s than rank 0", rank, v.Name)
				}
			}
		}
	}
	for _, p := range []int{2, 3} {
		t.Run(fmt.Sprintf("world=%d", p), func(t *testing.T) {
			check(p, func(fn func(g *ring.Group) error) { ringtest.Run(t, p, ring.DefaultConfig(), fn) })
		})
	}
	t.Run("hosts=aab", func(t *testing.T) {
		check(3, func(fn func(g *ring.Group) error) { ringtest.RunOnHosts(t, []int{0, 0, 1}, ring.DefaultConfig(), fn) })
	})
}

// exactOr is want, or got itself where nothing exact is wanted.
func exactOr(got []float32, want []float64, lossy bool) []float64 {
	if !lossy {
		return want
	}
	same := make([]float64, len(got))
	for i, v := range got {
		same[i] = float64(v)
	}
	return same
}

// distance is |a - b| / |b|.
func distance(a, b []float64) float64 {
	var off, all float64
	for i := range a {
		off += (a[i] - b[i]) * (a[i] - b[i])
		all += b[i] * b[i]
	}
	return math.Sqrt(off / all)
}

// TestLowRankBuckets verifies that a bucket of matrices takes one operation for all P and one
// for all Q, and sends these and the exact values only.
func TestLowRankBuckets(t *testing.T) {
	vars := matrices()
	exact := 48 + 40 + 900 + 2048 + 64*64
	p, q := lowRankOfTest*(64+48), lowRankOfTest*(48+40)
	ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
		w := &watched{Group: g}
		r := startLowRank(t, w, vars)
		defer r.Close()
		if err := oneStep(t, r, len(vars), func(i int, dst []float32) { fill(dst, uint64(i)) }); err != nil {
			return err
		}
		if want := []int{exact, p, q}; !slices.Equal(slices.Sorted(slices.Values(w.lengths)), slices.Sorted(slices.Values(want))) {
			t.Errorf("reduces %v, want %v", w.lengths, want)
		}
		return nil
	})
	if got := CountLowRank(vars, lowRankOfTest); got != 2 {
		t.Errorf("%d variables are factors, want 2", got)
	}
	if got := CountLowRank(vars, 64); got != 0 {
		t.Errorf("%d variables are factors of rank 64, want 0", got)
	}
}

// TestLowRankSends verifies by the bytes sent that PowerSGD saves bytes on the wire.
func TestLowRankSends(t *testing.T) {
	vars := []Variable{{Name: "kernel", Len: 256 * 512, Rows: 256, Cols: 512}}
	ringtest.Run(t, 3, ring.DefaultConfig(), func(g *ring.Group) error {
		r := mustReducer(t, g, vars, Config{})
		defer r.Close()
		var bytes [2]int64
		for i := range bytes {
			before, _ := g.SentBytes()
			if err := oneStep(t, r, 1, func(_ int, dst []float32) { fill(dst, 1) }); err != nil {
				return err
			}
			after, _ := g.SentBytes()
			bytes[i] = after - before
			if i == 0 {
				if err := r.SetLowRank(t.Context(), lowRankOfTest, 1); err != nil {
					return err
				}
			}
		}
		// 256·512 elements against 4·(256+512), and some headers and tails
		if ratio := float64(bytes[0]) / float64(bytes[1]); ratio < 35 {
			t.Errorf("%d bytes become %d, a ratio of %.1f, want 35 or more", bytes[0], bytes[1], ratio)
		}
		return nil
	})
}

// TestLowRankForgets spoils a step: by a gradient that is not finite, or by finite gradients
// whose sum is not. It verifies that the variable is named, and that the steps after it are
// not affected.
func TestLowRankForgets(t *testing.T) {
	const p, culprit, bad = 3, 1, 2
	vars := matrices()
	for _, tt := range []struct {
		name          string
		value         float32
		first         int // rank from which on the gradient has it
		named, summed int // in the culprit's tail; by NonFinite
	}{
		{"gradient", float32(math.NaN()), culprit, bad + 1, bad + 1},
		{"sum", 3e38, 0, 0, bad + 1},
	} {
		t.Run("spoilt="+tt.name, func(t *testing.T) {
			ringtest.Run(t, p, ring.DefaultConfig(), func(g *ring.Group) error {
				rank := g.Membership().Rank
				var after [2][]float32
				for run, spoil := range []bool{true, false} {
					r := startLowRank(t, g, vars)
					defer r.Close()
					for step := range 2 {
						if step == 0 && !spoil {
							continue
						}
						if err := oneStep(t, r, len(vars), func(i int, dst []float32) {
							fill(dst, seedOf(rank, i))
							if step == 0 && i == bad && rank >= tt.first {
								dst[3] = tt.value
							}
						}); err != nil {
							return err
						}
						if step == 0 && (int(r.Tails()[culprit].NonFinite) != tt.named || r.NonFinite() != tt.summed) {
							t.Errorf("tail says %d, NonFinite %d, want %d and %d", r.Tails()[culprit].NonFinite, r.NonFinite(), tt.named, tt.summed)
						}
					}
					after[run] = slices.Concat(r.Grad(0), r.Grad(bad))
				}
				if !slices.Equal(after[0], after[1]) {
					t.Error("the step after it is not that of a new reducer")
				}
				return nil
			})
		})
	}
}

// TestLowRankUnused verifies that factors are not used in the memory of one host, nor after
// SetCodec.
func TestLowRankUnused(t *testing.T) {
	vars := matrices()
	exact := func(r *Reducer, rank int) {
		if err := oneStep(t, r, len(vars), func(i int, dst []float32) { fill(dst, seedOf(rank, i)) }); err != nil {
			t.Error(err)
			return
		}
		for i, v := range vars {
			checkSum(t, v.Name, r.Grad(i), oracle(2, i, v.Len), false)
		}
	}
	ringtest.RunOnHosts(t, []int{0, 0}, ring.DefaultConfig(), func(g *ring.Group) error {
		r := startLowRank(t, g, vars)
		defer r.Close()
		exact(r, g.Membership().Rank)
		return nil
	})
	ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
		r := startLowRank(t, g, vars)
		defer r.Close()
		r.SetCodec(codec.None)
		exact(r, g.Membership().Rank)
		return nil
	})
}

// TestLowRankAllocatesNothing verifies that steps of two ranks allocate nothing, with
// gradients of zero, for which new directions are drawn, and with others.
func TestLowRankAllocatesNothing(t *testing.T) {
	const runs = 20
	for _, value := range []float32{0, 1} {
		t.Run(fmt.Sprintf("value=%g", value), func(t *testing.T) {
			ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
				vars := matrices()
				r := startLowRank(t, g, vars)
				defer r.Close()
				ctx, order := context.Background(), reverse(len(vars))
				step := func() {
					r.Begin(ctx)
					for _, i := range order {
						r.Grad(i)[0] = value
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

// TestLowRankMisuse verifies that a rank below 1 and a change within a step panic.
func TestLowRankMisuse(t *testing.T) {
	for _, tt := range []struct {
		want string
		rank int
		call func(r *Reducer)
	}{
		{"bucket: SetLowRank with a rank below 1", 0, func(*Reducer) {}},
		{"bucket: codec changed in a step", 1, func(r *Reducer) { r.Begin(t.Context()) }},
	} {
		t.Run(tt.want, func(t *testing.T) {
			r := mustReducer(t, scripted{2, nil}, matrices(), Config{})
			defer r.Close()
			tt.call(r)
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("panic is %v, want %s", got, tt.want)
				}
			}()
			_ = r.SetLowRank(t.Context(), tt.rank, 1)
		})
	}
}
