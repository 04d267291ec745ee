package kernel

import (
	"fmt"
	"slices"
	"testing"
)

var ruleNames = [rules]string{
	"sgd", "momentum", "nesterov", "adagrad", "adadelta", "adam", "adamRows", "adamDecay", "adamw", "ftrl", "rmsprop", "centered",
	"nesterovRows", "rmspropRows", "rmspropRowsMean", "ftrlPower",
}

// ruleConstants has typical constants of the optimizers.
var ruleConstants = [rules][6]float32{
	{0.1}, {0.1, 0.9}, {0.1, 0.9}, {0.1}, {0.5, 0.95, 0.05, 1e-8},
	{0.01, 0.1, 0.001, 1e-8}, {0.01, 0.1, 0.001, 1e-8, 0.9, 0.999}, {0.01, 0, 0, 1e-8, 0.9, 0.999}, {0.01, 0.1, 0.001, 1e-7, 0.004, 0.02},
	{0.1, 0.05, 0.02, 0}, {0.01, 0.1, 0.9, 1e-10}, {0.01, 0.1, 0.9, 1e-10},
	{0.1, 0.9}, {0.01, 0.1, 0.9, 1e-10, 0.9}, {0.01, 0.1, 0.9, 1e-10, 0.9}, {0.1, 0.05, 0.02, 0, 0.75},
}

func makeUpdate(r Rule, n int, values func(n int, seed uint64) []float32) *Update {
	u := &Update{W: values(n, 1), G: values(n, 2), C: ruleConstants[r]}
	for i := range ruleKinds[r].slots {
		u.S[i] = values(n, uint64(3+i))
	}
	return u
}

// positive has valid values of a sum of squares.
func positive(n int, seed uint64) []float32 {
	x := random(n, seed)
	for i := range x {
		x[i] = x[i]*x[i] + 0.01
	}
	return x
}

// TestUpdateAgrees verifies that each rule gives the portable body's bits in every set
// with any number of threads, for lengths around a vector, numbers of all sizes,
// infinities and NaN, and does not change the elements after them.
func TestUpdateAgrees(t *testing.T) {
	for _, e := range engines(t, 1, 3) {
		for r := range rules {
			t.Run(fmt.Sprintf("%v/rule=%s", e, ruleNames[r]), func(t *testing.T) {
				for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 1000, 50001} {
					for _, values := range []func(int, uint64) []float32{wild, positive} {
						updateCase(t, e, r, makeUpdate(r, n+16, values), n)
					}
				}
			})
		}
	}
}

func updateCase(t *testing.T, e *Engine, r Rule, u *Update, n int) {
	t.Helper()
	if r == Ftrl && n%2 == 1 {
		u.C[3] = 0.04 // with shrinkage
	}
	want := Update{W: slices.Clone(u.W), G: slices.Clone(u.G), C: u.C}
	for i, s := range u.S {
		want.S[i] = slices.Clone(s)
	}
	part, other := u.Cut(0, n), want.Cut(0, n)
	ruleKinds[r].body(other)
	e.Update(r, &part)
	wantSame(t, fmt.Sprintf("n=%d: w", n), u.W, want.W)
	wantSame(t, fmt.Sprintf("n=%d: g", n), u.G, want.G)
	for i := range u.S {
		wantSame(t, fmt.Sprintf("n=%d: slot %d", n, i), u.S[i], want.S[i])
	}
}

// TestUpdateAllocs verifies that no rule allocates.
func TestUpdateAllocs(t *testing.T) {
	for _, e := range engines(t, 1, 2) {
		for r := range rules {
			u := makeUpdate(r, 40000, positive)
			if got := testing.AllocsPerRun(5, func() { e.Update(r, u) }); got != 0 {
				t.Errorf("%v: %s allocates %v times, want 0", e, ruleNames[r], got)
			}
		}
	}
}

// TestUpdateWrongLength verifies that slots of a wrong length panic.
func TestUpdateWrongLength(t *testing.T) {
	defer func() {
		if recover() != "kernel: Update: length does not match shape" {
			t.Error("want a panic that says so")
		}
	}()
	u := makeUpdate(Adam, 20, positive)
	u.S[1] = u.S[1][:19]
	New(Portable, 1).Update(Adam, u)
}

// BenchmarkUpdate measures half a million and ten million parameters. The bytes are
// those of value, gradient and slots, once each.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{500_000, 10_000_000} {
		for r := range rules {
			u := makeUpdate(r, n, positive)
			for _, e := range engines(b, 1, 2) {
				b.Run(fmt.Sprintf("rule=%s/n=%d/%v", ruleNames[r], n, e), func(b *testing.B) {
					b.SetBytes(int64(4 * n * (2 + ruleKinds[r].slots)))
					for b.Loop() {
						e.Update(r, u)
					}
				})
			}
		}
	}
}
