//go:build !race

package csvfile

import (
	"testing"

	"ringtrain/input"
)

// TestAllocations verifies that a record costs no allocation once the batch has grown. Under the race detector
// a sync.Pool drops workers at random.
func TestAllocations(t *testing.T) {
	s, err := Open(t.Context(), []string{written(t, "a.csv", "y,I1,I2,C1,C2,comment\n1,2,3,red,\"a\"\"b\",c\n0,1,2.5,blue,x,\n")}, config(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b input.Batch
	n := testing.AllocsPerRun(100, func() {
		b.Reset()
		for i := range 2 {
			if err := s.Append(&b, i); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}
