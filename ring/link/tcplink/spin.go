package tcplink

// When a spin stops, and when it is tried again.
const (
	maxFailures = 8  // fruitless spins in a row after which spinning stops
	probeEvery  = 64 // reads without a spin before the next trial
)

// spin decides how often a read tries again before it sleeps. It spins as long as spins find
// bytes. While a rank computes, or where the neighbour shares the core, a spin finds none.
// The kernel moves processes between cores, so spin decides by trial.
type spin struct {
	limit    int // attempts of one read
	failures int // fruitless reads in a row, up to maxFailures
	skipped  int // reads without a spin since the last trial
}

// tries returns how often the current read may try again.
func (s *spin) tries() int {
	if s.failures < maxFailures {
		return s.limit
	}
	if s.skipped++; s.skipped < probeEvery {
		return 0
	}
	s.skipped = 0
	return s.limit
}

// succeeded records that an attempt found bytes.
func (s *spin) succeeded() { s.failures = 0 }

// failed records that no attempt found bytes.
func (s *spin) failed() { s.failures = min(s.failures+1, maxFailures) }
