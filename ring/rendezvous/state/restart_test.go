package state

import (
	"slices"
	"testing"
	"time"
)

// TestDelay verifies the delay before a rank is started again. It doubles up to 30 s if processes
// end before they join, and is one second if they end while others are awaited. It is 0 after a
// generation that completed a step, and doubles after generations that did not.
func TestDelay(t *testing.T) {
	const s = time.Second
	exit := func(l *crashLoopJob, lived time.Duration) time.Duration {
		l.step(ProcessStarted{Rank: 1})
		l.now += lived
		l.step(ProcessExited{Rank: 1, Text: "killed by signal 9", Code: 138})
		return l.s.RestartDelay(1)
	}
	for _, tt := range []struct {
		name string
		once func(l *crashLoopJob) time.Duration
		want []time.Duration
	}{
		{"joined=never", func(l *crashLoopJob) time.Duration { return exit(l, 10*s) }, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}},
		{"joined=others are awaited", func(l *crashLoopJob) time.Duration { l.join(1); return exit(l, 0) }, []time.Duration{s, s, s}},
		{"steps=completed", func(l *crashLoopJob) time.Duration {
			if l.last == 0 {
				l.join(0)
			}
			l.generation(true)
			return l.s.RestartDelay(1)
		}, []time.Duration{0, 0, 0}},
		{"steps=none", func(l *crashLoopJob) time.Duration {
			if l.last == 0 {
				l.join(0)
			}
			l.generation(false)
			return l.s.RestartDelay(1)
		}, []time.Duration{0, s, 2 * s, 4 * s}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newCrashLoopJob(100)
			var got []time.Duration
			for range tt.want {
				got = append(got, tt.once(l))
			}
			if l.end != nil || !slices.Equal(got, tt.want) {
				t.Errorf("delays %v and end %v, want %v and none", got, l.end, tt.want)
			}
		})
	}
}
