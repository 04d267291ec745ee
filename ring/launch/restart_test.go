package launch

import (
	"syscall"
	"testing"
	"time"
)

// If this failed, a rank would be started again that cannot ever run, or for
// ever, or one that a passing fault has ended would not.
func TestRestarts(t *testing.T) {
	type fall struct {
		at    time.Duration // since the first start
		lived time.Duration
		e     ending
		again bool
		first int // pid of the ending that counts, if not again
	}
	killed := func(pid int) ending { return ending{rank: 1, pid: pid, signal: syscall.SIGKILL} }
	code := func(pid, exit int) ending { return ending{rank: 1, pid: pid, exit: exit} }
	tests := []struct {
		name  string
		n     int
		falls []fall
	}{
		{"restarts=0", 0, []fall{{time.Hour, time.Hour, killed(1), false, 1}}},
		{"restarts=used up", 1, []fall{{time.Hour, time.Hour, killed(1), true, 0}, {2 * time.Hour, time.Hour, killed(2), false, 2}}},
		{"code=may be retried", 3, []fall{{time.Hour, time.Hour, code(1, 138), true, 0}, {time.Hour, time.Hour, code(2, 143), true, 0}}},
		{"code=permanent", 3, []fall{{time.Hour, time.Hour, code(1, 65), false, 1}}},
		{"host=lost", 1, []fall{{time.Hour, time.Hour, ending{rank: 1, pid: 1, lost: true}, true, 0}, {2 * time.Hour, time.Hour, ending{rank: 1, pid: 2, lost: true}, false, 2}}},
		{"loop=three at once", 9, []fall{{5 * time.Second, 5 * time.Second, killed(1), true, 0}, {7 * time.Second, 2 * time.Second, killed(2), true, 0}, {9 * time.Second, 2 * time.Second, killed(3), false, 1}}},
		{"loop=slow", 9, []fall{{time.Minute, time.Minute, killed(1), true, 0}, {2 * time.Minute, 10 * time.Second, killed(2), true, 0}, {3 * time.Minute, 10 * time.Second, killed(3), true, 0}, {4 * time.Minute, 10 * time.Second, killed(4), true, 0}}},
		{"loop=long ago", 9, []fall{{time.Second, time.Second, killed(1), true, 0}, {2 * time.Second, time.Second, killed(2), true, 0}, {10 * time.Minute, time.Second, killed(3), true, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, zero := newRestarts(tt.n), time.Unix(0, 0)
			for i, f := range tt.falls {
				now := zero.Add(f.at)
				r.started(1, now.Add(-f.lived))
				counts, again := r.again(f.e, now)
				if again != f.again || !again && counts.pid != f.first {
					t.Errorf("fall %d: again %v, ending %+v counts; want %v, pid %d", i, again, counts, f.again, f.first)
				}
			}
		})
	}
}
