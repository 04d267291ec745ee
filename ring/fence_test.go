package ring_test

import (
	"testing"

	"ringtrain/ring"
)

// TestFence verifies that a fence survives its bytes, and that each of its fields makes a
// difference, which is named.
func TestFence(t *testing.T) {
	want := ring.Membership{Life: [16]byte{1, 15: 2}, Generation: 3, Issuer: 4}.Fence()
	b := want.Append(nil)
	if len(b) != ring.FenceBytes || ring.ParseFence(b) != want {
		t.Errorf("bytes % x are %+v, want %+v", b, ring.ParseFence(b), want)
	}
	if err := want.Difference(want); err != nil {
		t.Errorf("a fence differs from itself: %v", err)
	}
	for text, f := range map[string]ring.Fence{
		"life is 00000000, want 01000000":         {Generation: 3, Issuer: 4},
		"generation is 2, want 3":                 {Life: want.Life, Generation: 2, Issuer: 4},
		"generation 3 is of rendezvous 5, want 4": {Life: want.Life, Generation: 3, Issuer: 5},
	} {
		if err := f.Difference(want); err == nil || err.Error() != text {
			t.Errorf("difference is %v, want %q", err, text)
		}
	}
}
