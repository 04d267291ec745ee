package synth

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"sort"
	"testing"

	"ringtrain/input"
)

// all returns all records of d.
func all(t testing.TB, d input.Dataset) *input.Batch {
	t.Helper()
	b := new(input.Batch)
	for i := range d.Facts().Records {
		if err := d.Append(b, i); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// digest returns the beginning of a SHA-256 over all results of a data set.
func digest(t testing.TB, d input.Dataset) string {
	b := all(t, d)
	h := sha256.New()
	var ids []int64
	for _, id := range b.X.Bags.Slot {
		ids = append(ids, int64(id))
	}
	for _, part := range []any{b.Y, b.X.Dense.Data, ids, b.X.Bags.Weights} {
		if err := binary.Write(h, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// TestGolden verifies that every platform and release draws the same numbers.
func TestGolden(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  input.Dataset
		want string
	}{
		{"linear seed=1", Linear(1), "b8632bf10d2c6b1d"},
		{"linear seed=2", Linear(2), "c78130e3e01a60a1"},
		{"digits train", Digits(1, 50, Train), "0f0322e49ffe1727"},
		{"digits eval", Digits(1, 50, Eval), "517809843ea7dd09"},
		{"clicks train", Clicks(1, 500, Train), "2b3aef15933b7a86"},
		{"clicks eval", Clicks(1, 500, Eval), "b61b67821d0434e3"},
	} {
		if got := digest(t, tt.set); got != tt.want {
			t.Errorf("%s: digest %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestPrefix verifies that the first records do not depend on the number of records.
func TestPrefix(t *testing.T) {
	few, many := all(t, Clicks(3, 10, Train)), all(t, Clicks(3, 100, Train))
	if !slices.Equal(few.X.Bags.Slot, many.X.Bags.Slot[:len(few.X.Bags.Slot)]) || !slices.Equal(few.Y, many.Y[:10]) {
		t.Error("10 clicks are not the first 10 of 100")
	}
}

// TestLinear verifies that the points are near y = 2x + 10.
func TestLinear(t *testing.T) {
	for seed := range uint64(50) {
		b := all(t, Linear(seed))
		x, n := b.X.Dense.Data, float64(LinearRecords)
		if x[0] != -1 || x[LinearRecords-1] != 1 || !slices.IsSorted(x) {
			t.Fatalf("x goes from %g to %g", x[0], x[LinearRecords-1])
		}
		var sx, sy, sxx, sxy float64
		for i, y := range b.Y {
			sx, sy = sx+float64(x[i]), sy+float64(y)
			sxx, sxy = sxx+float64(x[i]*x[i]), sxy+float64(x[i]*y)
		}
		w := (n*sxy - sx*sy) / (n*sxx - sx*sx)
		bias := (sy - w*sx) / n
		rest := 0.0
		for i, y := range b.Y {
			e := float64(y) - w*float64(x[i]) - bias
			rest += e * e / n
		}
		if !(math.Abs(w-2) <= 0.25) || !(math.Abs(bias-10) <= 0.15) || math.Sqrt(rest) < 0.25 || math.Sqrt(rest) > 0.42 {
			t.Errorf("seed=%d: least squares w=%.3f b=%.3f, rest %.3f; want about 2, 10, 0.33", seed, w, bias, math.Sqrt(rest))
		}
	}
}

// TestDigitsAreLearnable verifies that softmax regression distinguishes the digits, but
// not perfectly.
func TestDigitsAreLearnable(t *testing.T) {
	train, eval := all(t, Digits(1, 2000, Train)), all(t, Digits(1, 500, Eval))
	const classes, rate, epochs = 10, 0.02, 6
	w := make([]float32, classes*digitsPixels)
	bias := make([]float32, classes)
	var p [classes]float32
	scores := func(x []float32) {
		for c := range classes {
			s := bias[c]
			for j, v := range w[c*digitsPixels : (c+1)*digitsPixels] {
				s += v * x[j]
			}
			p[c] = s
		}
	}
	for range epochs {
		for i, y := range train.Y {
			x := train.X.Dense.Row(i)
			scores(x)
			top, sum := slices.Max(p[:]), float32(0)
			for c := range p {
				p[c] = float32(math.Exp(float64(p[c] - top)))
				sum += p[c]
			}
			for c := range p {
				g := p[c] / sum
				if c == int(y) {
					g--
				}
				bias[c] -= rate * g
				row := w[c*digitsPixels : (c+1)*digitsPixels]
				for j, v := range x {
					row[j] -= rate * g * v
				}
			}
		}
	}
	right := 0
	for i, y := range eval.Y {
		scores(eval.X.Dense.Row(i))
		if slices.Index(p[:], slices.Max(p[:])) == int(y) {
			right++
		}
	}
	accuracy := float64(right) / float64(len(eval.Y))
	t.Logf("accuracy %.3f", accuracy)
	if accuracy < 0.90 || accuracy > 0.995 {
		t.Errorf("softmax regression gets %.3f right, want 0.90 to 0.995", accuracy)
	}
}

// TestClicksAreLearnable verifies that clicks are about as predictable as those of a8a
// and not rare.
func TestClicksAreLearnable(t *testing.T) {
	for seed := range uint64(8) {
		m := newHidden(seed)
		d := Clicks(seed, 4000, Eval).(*clicks)
		type pair struct {
			score float64
			label uint8
		}
		var pairs []pair
		ones := 0
		for i, y := range d.labels {
			ids := d.ids[d.start[i]:d.start[i+1]]
			for _, id := range ids {
				if id == 0 || id >= ClicksFeatures {
					t.Fatalf("id %d", id)
				}
			}
			pairs = append(pairs, pair{m.probability(ids), y})
			ones += int(y)
		}
		sort.Slice(pairs, func(i, j int) bool { return pairs[i].score < pairs[j].score })
		rank := 0
		for i, p := range pairs {
			rank += int(p.label) * (i + 1)
		}
		zeros := len(pairs) - ones
		auc := float64(rank-ones*(ones+1)/2) / float64(ones*zeros)
		share := float64(ones) / float64(len(pairs))
		t.Logf("seed=%d: %.3f clicks, AUC %.3f", seed, share, auc)
		if auc < 0.84 || auc > 0.93 || share < 0.15 || share > 0.40 {
			t.Errorf("seed=%d: AUC %.3f, share of clicks %.3f", seed, auc, share)
		}
	}
}

// TestAllocatesNothing verifies that Append allocates nothing.
func TestAllocatesNothing(t *testing.T) {
	all := make([]int, 20)
	for i := range all {
		all[i] = i
	}
	for name, d := range map[string]input.Dataset{"linear": Linear(1), "digits": Digits(1, 20, Train), "clicks": Clicks(1, 20, Train)} {
		var b input.Batch
		read := func() {
			b.Reset()
			d.Append(&b, all...)
		}
		read()
		if got := testing.AllocsPerRun(100, read); got != 0 || len(b.Y) != 20 {
			t.Errorf("%s: %g allocations a batch of %d records, want 0 for 20", name, got, len(b.Y))
		}
		if d.Facts().Manifest[0] == "" || d.Close() != nil {
			t.Errorf("%s: manifest %q", name, d.Facts().Manifest)
		}
	}
}

// TestExp verifies the documented bounds of exp.
func TestExp(t *testing.T) {
	for x := -12.0; x <= 12; x += 0.25 {
		if got, want := exp(x), math.Exp(x); !(math.Abs(got/want-1) <= 0.075) || math.Abs(x) < 4 && !(math.Abs(got/want-1) <= 0.01) {
			t.Errorf("exp(%g) is %g, want about %g", x, got, want)
		}
	}
}

func BenchmarkDigits(b *testing.B) {
	for b.Loop() {
		Digits(1, 100, Train)
	}
}
