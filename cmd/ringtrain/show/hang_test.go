package show

import (
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous"
)

// TestHang verifies that the rank is named to which the waits of the others lead, directly or not, and that nothing is
// said of short waits, of a lost rank and of a peer that is not there.
func TestHang(t *testing.T) {
	long, short := 4*time.Second, 100*time.Millisecond
	rank := func(peer int, d time.Duration) rendezvous.RankStatus {
		return rendezvous.RankStatus{Present: true, Wait: ring.Wait{Peer: peer}, For: d}
	}
	for name, tt := range map[string]struct {
		ranks []rendezvous.RankStatus
		want  string
	}{
		"nobody":      {nil, ""},
		"moves":       {[]rendezvous.RankStatus{rank(1, short), rank(0, short)}, ""},
		"direct":      {[]rendezvous.RankStatus{rank(1, long), rank(-1, long)}, "others have waited 4 s for rank 1"},
		"a chain":     {[]rendezvous.RankStatus{rank(2, long), rank(0, 4300*time.Millisecond), rank(3, long), rank(0, short)}, "others have waited 4.3 s for rank 3"},
		"a lost rank": {[]rendezvous.RankStatus{rank(1, long), {Wait: ring.Wait{Peer: 0}, For: long}}, "others have waited 4 s for rank 1"},
		"a circle":    {[]rendezvous.RankStatus{rank(1, long), rank(0, long)}, "others have waited 4 s for rank 0"},
		"a stranger":  {[]rendezvous.RankStatus{rank(7, long), rank(-1, short)}, ""},
	} {
		if got := hangOf(rendezvous.Status{Ranks: tt.ranks}); got != tt.want {
			t.Errorf("%s: says %q, want %q", name, got, tt.want)
		}
	}
}
