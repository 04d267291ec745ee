package train

import (
	"testing"
	"time"
)

// TestPulse verifies that a process that has its core loses nothing, that a time without it counts once, also while it
// lasts, and that the rest of a long one is a pause.
func TestPulse(t *testing.T) {
	now := time.Now()
	p := pulse{due: now}
	for _, tt := range []struct {
		name  string
		after time.Duration
		beats bool
		want  lost
	}{
		{"before the beat is due", -time.Millisecond, true, lost{}},
		{"when it is due", pulseEvery, true, lost{}},
		{"without a core", pulseEvery + 20*time.Millisecond, false, lost{late: 20 * time.Millisecond}},
		{"back", 0, true, lost{late: 20 * time.Millisecond}},
		{"at work", pulseEvery, true, lost{late: 20 * time.Millisecond}},
		{"after a pause", pulseEvery + 10*time.Second, true, lost{late: 520 * time.Millisecond, paused: 9500 * time.Millisecond}},
	} {
		now = now.Add(tt.after)
		if got := p.lost(now); got != tt.want {
			t.Errorf("%s: lost %+v, want %+v", tt.name, got, tt.want)
		}
		if tt.beats {
			p.beat(now)
		}
	}
}
