// Package pairwise has the arithmetic of the doctor's measurements between all pairs of workers: the
// rounds in which pairs measure, and the measurement of a pair's bandwidth.
package pairwise

import "time"

// Rounds returns the number of rounds in which each of n members meets each other member once.
func Rounds(n int) int { return n - 1 + n%2 }

// Opponent returns the member that one of n members meets in a round, or -1 if the member rests.
// In round r two members meet whose numbers sum to r, modulo the number of rounds. If n is even,
// the last member meets the one that would meet itself.
func Opponent(n, round, member int) int {
	last, odd := n-1, Rounds(n)
	if n%2 == 0 && member == last {
		return round * (odd + 1) / 2 % odd // twice this is round, modulo the odd number of rounds
	}
	switch other := ((round-member)%odd + odd) % odd; {
	case other != member:
		return other
	case n%2 == 0:
		return last
	default:
		return -1
	}
}

// Bursts describes the bursts of bytes by which a bandwidth is measured.
type Bursts struct {
	Least int           // bytes of the first burst; each further one has four times as many
	Most  int           // bytes of the largest burst, which is repeated
	Idle  time.Duration // time of an answer, which does not count

	// Done reports whether a burst was the last one.
	Done func(b Burst) bool
}

// Burst is the result of one burst.
type Burst struct {
	Size    int
	Took    time.Duration // from the first byte to the answer
	Net     time.Duration // Took without Idle
	Largest int           // bursts of size Most so far
	Elapsed time.Duration // since the first burst began
}

// Bandwidth measures bytes per second by bursts of growing size. send sends a burst of a size and
// returns the time until its answer. The result is the rate of the largest burst; of several
// bursts of size Most it is the best, which no other process has delayed. Small bursts do not
// count: they may fit into a shaper's burst, and end before a connection reaches its speed.
func (b Bursts) Bandwidth(send func(size int) (time.Duration, error)) (rate float64, err error) {
	began, largest := time.Now(), 0
	for size := b.Least; ; size = min(4*size, b.Most) {
		took, err := send(size)
		if err != nil {
			return rate, err
		}
		net := max(took-b.Idle, took/4, time.Microsecond)
		if size == b.Most {
			largest++
		}
		this := float64(size) / net.Seconds()
		if largest > 1 {
			this = max(this, rate)
		}
		rate = this
		if b.Done(Burst{size, took, net, largest, time.Since(began)}) {
			return rate, nil
		}
	}
}
