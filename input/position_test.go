package input_test

import (
	"testing"

	"ringtrain/input"
)

// TestLastEpoch verifies that epochs count from 1, and that the last batch of an epoch
// belongs to it.
func TestLastEpoch(t *testing.T) {
	for p, want := range map[input.Position]int64{{}: 1, {Offset: 5}: 1, {Epoch: 1}: 1, {Epoch: 1, Offset: 5}: 2, {Epoch: 2}: 2} {
		if got := p.LastEpoch(); got != want {
			t.Errorf("epoch of %+v is %d, want %d", p, got, want)
		}
	}
}
