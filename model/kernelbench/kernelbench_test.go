package kernelbench

import (
	"strings"
	"testing"
	"time"

	"ringtrain/model/kernel"
)

// TestRun verifies that each set has a row for each work with consistent figures.
func TestRun(t *testing.T) {
	c := Config{Threads: 1, Budget: time.Microsecond, Sizes: []int{8, 16}, Only: OnlySquares}
	var rows []Row
	if err := Run(c, func(r Row) { rows = append(rows, r) }); err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(kernel.Sets()); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	for i, r := range rows {
		n := []float64{8, 16}[i%2]
		if r.Op != "gemm" || r.Set != kernel.Sets()[i/2].String() || !(r.Time > 0) || r.Median < r.Time || !(r.Peak > 0) {
			t.Errorf("row %d is %+v", i, r)
		}
		if got, want := r.Rate*r.Time*1e9, 2*n*n*n; got < want*0.999 || got > want*1.001 {
			t.Errorf("row %d counts %v operations, want %v", i, got, want)
		}
		if !strings.Contains(r.String(), r.Shape) {
			t.Errorf("row %d prints as %s", i, r)
		}
	}
}

// TestWorks verifies that each kernel of the models runs and counts its operations.
func TestWorks(t *testing.T) {
	e := kernel.New(kernel.Sets()[len(kernel.Sets())-1], 1)
	defer e.Close()
	seen := map[string]int{}
	for _, w := range works(Config{Only: OnlyModels}) {
		w.call(e)
		seen[w.op]++
		if !(w.flop > 0) {
			t.Errorf("%s %s has %v operations", w.op, w.shape, w.flop)
		}
	}
	for op, want := range map[string]int{"dense": 6, "dense dw": 6, "dense dx": 6, "conv": 2, "conv dw": 2, "conv dx": 1} {
		if seen[op] != want {
			t.Errorf("%d rows of %s, want %d", seen[op], op, want)
		}
	}
	if w := convolutions()[1].works()[0]; w.flop != 2*64*14*14*64*5*5*32 {
		t.Errorf("%s counts %v operations", w.shape, w.flop)
	}
}

// TestPeakLoops verifies that each set's loop returns and counts operations.
func TestPeakLoops(t *testing.T) {
	for _, s := range kernel.Sets() {
		loop, operations := multiplyAdd(s)
		loop(1)
		if operations <= 0 {
			t.Errorf("%v: %d operations a round", s, operations)
		}
	}
}

// TestConfig verifies that Check returns all errors at once.
func TestConfig(t *testing.T) {
	err := Config{Only: "circles", Sizes: []int{0}, Sets: []string{"mmx"}}.Check()
	for _, want := range []string{"--threads is 0", "--budget is 0s", `--only is "circles"`, "--sizes has 0", "mmx"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
