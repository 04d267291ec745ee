//go:build !race

package input_test

import (
	"testing"

	"ringtrain/input"
	"ringtrain/input/synth"
)

// TestViewAllocations verifies that a record of a view costs no allocation once the batch has grown. Under the race detector a
// sync.Pool drops memory at random.
func TestViewAllocations(t *testing.T) {
	d := synth.Digits(1, 2000, synth.Train)
	s := input.Split{Share: share(0.1)}
	p := s.Parts(2000)
	for _, in := range []input.Part{input.Training, input.Validation} {
		v := p.View(d, in)
		var b input.Batch
		records := []int{150, 3, 77}
		n := testing.AllocsPerRun(100, func() {
			b.Reset()
			if err := v.Append(&b, records...); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%v: %g allocations, want 0", in, n)
		}
	}
}
