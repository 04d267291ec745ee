package proof

import (
	"slices"
	"testing"

	"ringtrain/input"
	"ringtrain/input/synth"
)

// TestRecords verifies that the records of a proof are spread evenly over their data set, and that the prover knows their
// numbers, also when an evaluation goes back to one of them.
func TestRecords(t *testing.T) {
	p := new(Prover)
	d := p.Records(synth.Digits(1, 25, synth.Eval), 10)
	if n := d.Facts().Records; n != 10 {
		t.Fatalf("%d records, want 10", n)
	}
	numbers := func() (all []int) {
		for _, r := range p.read {
			all = append(all, r.number)
		}
		return all
	}
	var b input.Batch
	if err := d.Append(&b, 0, 1, 2, 9); err != nil {
		t.Fatal(err)
	}
	if got := numbers(); !slices.Equal(got, []int{0, 2, 5, 22}) {
		t.Errorf("records %v, want 0, 2, 5 and 22", got)
	}
	b.Reset()
	if err := d.Append(&b, 3); err != nil {
		t.Fatal(err)
	}
	if got := numbers(); !slices.Equal(got, []int{7}) {
		t.Errorf("records %v after a reset, want 7", got)
	}
}
