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
			p := s.Parts(n)
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
	if first, other := a.Parts(1000), b.Parts(1000); fmt.Sprint(first) == fmt.Sprint(other) {
		t.Error("another seed holds out the same records")
	}
}

// TestSplitFaults verifies the faults of a split.
func TestSplitFaults(t *testing.T) {
	for want, s := range map[string]input.Split{
		"": {},
		"input.split.share is absent, want the share of the records that validate, as in {share: 0.1}, or input.split.from": {Seed: 1},
		"input.split.from is 7, which needs input.split.by: the column that it is compared with":                            {From: "7"},
		"input.split.share and from are given, want one of them":                                                            {From: "7", By: "day", Share: share(0.1)},
		"input.split.fold is 1, which needs input.split.share":                                                              {Test: share(0.1), Fold: 1},
		"input.split.fold is 10, want 0 to 9: input.split.share is 0.1":                                                     {Share: share(0.1), Fold: 10},
		"input.split.share is 0.3, want 1 divided by a whole number with input.split.fold, as 0.1 or 0.3333":                {Share: share(0.3), Fold: 1},
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

// TestView verifies that the views of the parts have each record of the data set once, in its order,
// and its number.
func TestView(t *testing.T) {
	const n = 1500
	d := synth.Digits(1, n, synth.Train)
	all := labelsOf(t, d)
	s := input.Split{Share: share(0.3), Test: share(0.1)}
	p := s.Parts(n)
	total := 0
	for _, in := range []input.Part{input.Training, input.Validation, input.Test} {
		var want []float32
		v := p.View(d, in)
		for i, y := range all {
			if p.Has(i, in) {
				if number := input.NumberOf(v, len(want)); number != i || input.NumberOf(d, i) != i {
					t.Fatalf("%v: record %d has the number %d, want %d", in, len(want), number, i)
				}
				want = append(want, y)
			}
		}
		if got := labelsOf(t, v); !slices.Equal(got, want) || v.Facts().Records != len(want) {
			t.Errorf("%v: %d records, want %d in the order of the files", in, len(got), len(want))
		}
		total += len(want)
	}
	if total != n {
		t.Errorf("%d records in all parts, want %d", total, n)
	}
}

// partsOfCells returns the part of each cell.
func partsOfCells(s input.Split, cells []string) (all []input.Part, p *input.Parts) {
	p = s.Parts(len(cells))
	for i, cell := range cells {
		p.PutCell(i, []byte(cell))
	}
	for i := range cells {
		for _, in := range []input.Part{input.Training, input.Validation, input.Test} {
			if p.Has(i, in) {
				all = append(all, in)
			}
		}
	}
	return all, p
}

// TestSplitByCell verifies that equal cells are in one part, that folds hold out each cell once, that the parts are about
// as large as the shares say, that another seed draws others, and that records without a cell train and are counted.
func TestSplitByCell(t *testing.T) {
	const n = 20_000
	cells := make([]string, n)
	for i := range cells {
		if i%100 > 0 {
			cells[i] = fmt.Sprintf("customer %d", i%7919)
		}
	}
	validated := map[string]int{}
	for fold := range 10 {
		s := input.Split{Share: share(0.1), Test: share(0.2), By: "customer", Fold: fold}
		all, p := partsOfCells(s, cells)
		of, counts := map[string]input.Part{}, [3]int{}
		for i, cell := range cells {
			was, known := of[cell]
			if known && was != all[i] || cell == "" && all[i] != input.Training {
				t.Fatalf("fold=%d: %q is in %v and in %v", fold, cell, was, all[i])
			}
			of[cell] = all[i]
			counts[all[i]]++
		}
		for cell, in := range of {
			if in == input.Validation {
				validated[cell]++
			} else if in == input.Test {
				validated[cell] = 1
			}
		}
		if v, e := counts[input.Validation], counts[input.Test]; v < n/16 || v > n/10 || e < n/6 || e > n/4 {
			t.Errorf("fold=%d: parts of %v records, want about 8 %% and 20 %% of %d", fold, counts, n)
		}
		if p.Without() != n/100 {
			t.Errorf("%d records without a cell, want %d", p.Without(), n/100)
		}
	}
	delete(validated, "")
	for cell, times := range validated {
		if times != 1 {
			t.Errorf("%q is held out %d times, want once", cell, times)
		}
	}
	first, _ := partsOfCells(input.Split{Share: share(0.1), By: "customer"}, cells)
	other, _ := partsOfCells(input.Split{Share: share(0.1), By: "customer", Seed: 1}, cells)
	if slices.Equal(first, other) {
		t.Error("another seed holds out the same records")
	}
}

// TestSplitFrom verifies that cells from a value on validate: numbers by value, others in bytewise order.
func TestSplitFrom(t *testing.T) {
	for _, tt := range []struct {
		from            string
		trains, behinds []string
	}{
		{"2026-06-01", []string{"2026-05-31", "2025-12-01T10:00", "", "10"}, []string{"2026-06-01", "2026-06-01T00:00:01Z", "2027-01-01"}},
		{"9.5", []string{"9", "-1e3", "9.499", "", "#"}, []string{"9.5", "10", "1e2", "a"}},
	} {
		s := input.Split{By: "day", From: tt.from}
		all, _ := partsOfCells(s, slices.Concat(tt.trains, tt.behinds))
		for i, in := range all {
			if validates := i >= len(tt.trains); validates != (in == input.Validation) {
				t.Errorf("from=%s: %q is in %v", tt.from, slices.Concat(tt.trains, tt.behinds)[i], in)
			}
		}
	}
}

// TestHeldOut verifies that a cache keeps parts as they are, and that others are refused.
func TestHeldOut(t *testing.T) {
	cells := make([]string, 1000)
	for i := range cells {
		cells[i] = fmt.Sprint(i % 333)
	}
	want, p := partsOfCells(input.Split{Share: share(0.2), Test: share(0.1), By: "c"}, append(cells, ""))
	again, err := p.HeldOut().Parts(len(want))
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range want {
		if !again.Has(i, in) {
			t.Errorf("record %d is not in %v", i, in)
		}
	}
	if again.Without() != 1 {
		t.Errorf("%d records without a cell, want 1", again.Without())
	}
	if _, err := p.HeldOut().Parts(len(want) + 64); err == nil {
		t.Error("the parts of 1001 records are those of 1065")
	}
}
