package ring_test

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestParseAlgorithm verifies that each name gives its algorithm, and the message for another one.
func TestParseAlgorithm(t *testing.T) {
	for _, want := range []ring.Algorithm{ring.ByRing, ring.ByDoubling, ring.ByHalving, ring.ByAuto} {
		if got, err := ring.ParseAlgorithm(want.String()); got != want || err != nil {
			t.Errorf("%v: %v, %v", want, got, err)
		}
	}
	for _, name := range []string{"", "rings", "fold", "<=2KiB:doubling,ring"} {
		_, err := ring.ParseAlgorithm(name)
		if want := fmt.Sprintf("algorithm is %q, want one of ring, doubling, halving, auto", name); err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.Usage {
			t.Errorf("%q: error %v with exit code %d, want %q with %d", name, err, exitcode.Of(err), want, exitcode.Usage)
		}
	}
}

// TestAuto verifies which algorithm auto takes, and where a codec, or tails of 64 B a worker, make the
// ring take its place. A change would give a resumed job other sums.
func TestAuto(t *testing.T) {
	const kib = 1 << 10
	for _, tt := range []struct {
		workers, bytes int
		coded          bool
		want           ring.Algorithm
	}{
		{2, 32 * kib, false, ring.ByDoubling}, {2, 32*kib + 4, false, ring.ByRing},
		{3, 4, false, ring.ByDoubling}, {3, 32 * kib, false, ring.ByDoubling}, {3, 32*kib + 4, false, ring.ByRing},
		{4, 32 * kib, false, ring.ByDoubling}, {4, 32*kib + 4, false, ring.ByHalving},
		{4, 512 * kib, false, ring.ByHalving}, {4, 512*kib + 4, false, ring.ByRing},
		{64, 512 * kib, false, ring.ByHalving}, {96, 512 * kib, false, ring.ByRing},
		{4, 4 * kib, true, ring.ByDoubling}, {4, 4*kib + 4, true, ring.ByRing}, {4, 64 * kib, true, ring.ByRing},
		{512, 4, false, ring.ByDoubling}, {513, 4, false, ring.ByRing},
	} {
		if got := ring.ByAuto.Choose(tt.workers, tt.bytes, ring.TailBytes, tt.coded); got != tt.want {
			t.Errorf("workers=%d bytes=%d coded=%v: %v, want %v", tt.workers, tt.bytes, tt.coded, got, tt.want)
		}
	}
}
