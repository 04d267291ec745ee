package tcplink

// When a spin stops, and when it is tried again.
const (
	maxWasted  = 8  // waits in a row in which a spin found nothing
	probeEvery = 64 // waits without a spin
)

// A spin decides how often a read tries again before it sleeps. It spins as long
// as that pays: while a rank computes, or where the neighbour shares the core
// with it, nothing comes however often it tries. Nobody can know that
// beforehand, for the kernel moves processes about.
type spin struct {
	most   int // tries of a read
	wasted int // reads in a row that tried in vain, up to maxWasted
	waits  int // reads that have not tried since
}

// tries returns how often the read that begins to wait is to try again.
func (s *spin) tries() int {
	if s.wasted < maxWasted {
		return s.most
	}
	if s.waits++; s.waits < probeEvery {
		return 0
	}
	s.waits = 0
	return s.most
}

// paid says that a try has found bytes.
func (s *spin) paid() { s.wasted = 0 }

// failed says that no try has.
func (s *spin) failed() { s.wasted = min(s.wasted+1, maxWasted) }
