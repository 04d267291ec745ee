package tcplink

import "testing"

// TestSpin verifies that a link stops fruitless spins, and spins again once spins find bytes.
func TestSpin(t *testing.T) {
	s := spin{limit: 5}
	count := func(waits int, paid bool) (spun int) {
		for range waits {
			n := s.tries()
			if n > 0 {
				spun++
			}
			if n > 0 && paid {
				s.succeeded()
			} else {
				s.failed()
			}
		}
		return spun
	}
	if got := count(1000, true); got != 1000 {
		t.Errorf("spun in %d of 1000 waits that it shortened, want all", got)
	}
	if got, want := count(maxFailures+10*probeEvery, false), maxFailures+10; got != want {
		t.Errorf("spun in %d waits in vain, want %d", got, want)
	}
	if got, want := count(probeEvery+100, true), 101; got != want {
		t.Errorf("spun in %d waits after spins found bytes again, want %d", got, want)
	}
	if never := (spin{}); never.tries() != 0 {
		t.Error("spins although it may not")
	}
}
