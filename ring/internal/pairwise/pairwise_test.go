package pairwise

import (
	"errors"
	"testing"
	"time"
)

// TestRounds verifies that each pair meets once, and that no member is in two pairs at a time:
// each measurement would count the other's traffic.
func TestRounds(t *testing.T) {
	for n := 1; n <= 33; n++ {
		met := map[[2]int]int{}
		for round := range Rounds(n) {
			for m := range n {
				other := Opponent(n, round, m)
				if other < 0 {
					continue
				}
				if other == m || other >= n || Opponent(n, round, other) != m {
					t.Fatalf("n=%d: in round %d member %d meets %d, which meets %d", n, round, m, other, Opponent(n, round, other))
				}
				met[[2]int{m, other}]++
			}
		}
		for a := range n {
			for b := range n {
				if want := min(1, max(a-b, b-a)); met[[2]int{a, b}] != want {
					t.Errorf("n=%d: member %d meets %d %d times, want %d", n, a, b, met[[2]int{a, b}], want)
				}
			}
		}
	}
}

// TestBandwidth verifies that the best of the largest bursts counts, and that the time of an
// answer does not.
func TestBandwidth(t *testing.T) {
	took := map[int][]time.Duration{
		16:  {2 * time.Millisecond},
		64:  {2 * time.Millisecond},
		100: {51 * time.Millisecond, 26 * time.Millisecond, 101 * time.Millisecond},
	}
	b := Bursts{Least: 16, Most: 100, Idle: time.Millisecond, Done: func(b Burst) bool { return b.Largest == 3 }}
	rate, err := b.Bandwidth(func(size int) (time.Duration, error) {
		list := took[size]
		took[size] = list[1:]
		return list[0], nil
	})
	if want := 100 / 0.025; err != nil || rate != want {
		t.Errorf("rate is %v, %v, want %v", rate, err, want)
	}
	broken := errors.New("broken")
	if _, err := b.Bandwidth(func(int) (time.Duration, error) { return 0, broken }); err != broken {
		t.Errorf("error %v, want %v", err, broken)
	}
}
