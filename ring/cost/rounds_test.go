package cost

import (
	"math"
	"testing"
	"time"
)

// TestRounds verifies the rounds and their bytes: doubling sends all, halving a half and less.
// There are two more rounds if the
// number of hosts is no power of two.
func TestRounds(t *testing.T) {
	r := Rates{Bandwidth: 1e6, Latency: time.Millisecond, Add: 4e6}
	const ms, us = time.Millisecond, time.Microsecond
	const head = headerBytes * us // at 1 MB/s
	for _, tt := range []struct {
		name string
		a    Algorithm
		l    Layout
		want Time
	}{
		{"one host", Doubling, Layout{1, 1}, Time{}},
		{"doubling, 4 hosts", Doubling, Layout{4, 1}, Time{Wire: 2 * (80*ms + ms + head), CPU: 40 * ms}},
		{"doubling, 4 hosts of 2 ranks", Doubling, Layout{4, 2}, Time{Wire: 2 * (40*ms + ms + head), CPU: 20 * ms}},
		{"doubling, 5 hosts", Doubling, Layout{5, 1}, Time{Wire: 4 * (80*ms + ms + head), CPU: 60 * ms}},
		{"halving, 8 hosts", Halving, Layout{8, 1}, Time{Wire: 140*ms + 6*(ms+head), CPU: 17500 * us}},
	} {
		t.Run("case="+tt.name, func(t *testing.T) {
			tt.want.Total = tt.want.Wire + tt.want.CPU
			if got := tt.a.Predict(r, 80e3, tt.l); got != tt.want {
				t.Errorf("time is %+v, want %+v", got, tt.want)
			}
		})
	}
	sockets := r
	sockets.Sockets = 8e6
	if got := Halving.Predict(sockets, 80e3, Layout{2, 1}).CPU; got != 20*ms {
		t.Errorf("through sockets halving takes %v of a core, want 20ms", got)
	}
	if got := Doubling.Predict(Rates{}, math.MaxInt64, Layout{math.MaxInt32, 1}); got != (Time{forever, forever, forever}) {
		t.Errorf("without rates it takes %v, want for ever", got)
	}
}
