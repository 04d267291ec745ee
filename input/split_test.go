package input_test

import (
	"fmt"
	"slices"
	"testing"

	"ringtrain/input"
	"ringtrain/input/synth"
)

func share(x float64) *float64 { return &x }

// labelsOf returns the labels of all records of d.
func labelsOf(t *testing.T, d input.Dataset) []float32 {
	t.Helper()
	var b input.Batch
	for i := range d.Facts().Records {
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
	}
	return b.Y
}

// TestSplitByNumber verifies that each record is in one part, that the parts are as large as the shares say,
// that folds together are all records that are no test records, and that another seed draws others.
func TestSplitByNumber(t *testing.T) {
	for _, n := range []int{1, 15, 64, 1000, 1013} {
		validated := make([]int, n)
		for fold := range 10 {
			s := input.Split{Share: share(0.1), Fold: fold, Test: share(0.2)}
			p := s.ByNumber(n)
			tests := 0
			for i := range n {
				parts := 0
				for _, in := range []input.Part{input.Training, input.Validation, input.Test} {
					if p.Has(i, in) {
						parts++
					}
				}
				if parts != 1 {
					t.Fatalf("n=%d fold=%d: record %d is in %d parts", n, fold, i, parts)
				}
				if p.Has(i, input.Test) {
					tests++
					validated[i] = 1
				} else if p.Has(i, input.Validation) {
					validated[i]++
				}
			}
			if want := (2*n + 5) / 10; tests != want {
				t.Errorf("n=%d: %d test records, want %d", n, tests, want)
			}
		}
		if slices.ContainsFunc(validated, func(n int) bool { return n != 1 }) {
			t.Errorf("n=%d: folds hold out records %v times, want each once", n, validated)
		}
	}
	a, b := input.Split{Share: share(0.1)}, input.Split{Share: share(0.1), Seed: 1}
	if first, other := a.ByNumber(1000), b.ByNumber(1000); fmt.Sprint(first) == fmt.Sprint(other) {
		t.Error("another seed holds out the same records")
	}
}

// TestSplitFaults verifies the faults of a split.
func TestSplitFaults(t *testing.T) {
	for want, s := range map[string]input.Split{
		"": {},
		"input.split.share is absent, want the share of the records that validate, as in {share: 0.1}":       {Seed: 1},
		"input.split.fold is 10, want 0 to 9: input.split.share is 0.1":                                      {Share: share(0.1), Fold: 10},
		"input.split.fold is 1, which needs input.split.share":                                               {Test: share(0.1), Fold: 1},
		"input.split.share is 0.3, want 1 divided by a whole number with input.split.fold, as 0.1 or 0.3333": {Share: share(0.3), Fold: 1},
	} {
		got := ""
		if err := s.Check(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("fault %q, want %q", got, want)
		}
	}
}

// TestView verifies that the views of the parts have each record of the data set once, in its order.
func TestView(t *testing.T) {
	const n = 1500
	d := synth.Digits(1, n, synth.Train)
	all := labelsOf(t, d)
	s := input.Split{Share: share(0.3), Test: share(0.1)}
	p := s.ByNumber(n)
	total := 0
	for _, in := range []input.Part{input.Training, input.Validation, input.Test} {
		var want []float32
		for i, y := range all {
			if p.Has(i, in) {
				want = append(want, y)
			}
		}
		v := p.View(d, in)
		if got := labelsOf(t, v); !slices.Equal(got, want) || v.Facts().Records != len(want) {
			t.Errorf("%v: %d records, want %d in the order of the files", in, len(got), len(want))
		}
		total += len(want)
	}
	if total != n {
		t.Errorf("%d records in all parts, want %d", total, n)
	}
}
