package shmlink

import (
	"sync"
	"testing"

	machine "ringtrain/ring/cores"
	"ringtrain/ring/token"
)

// TestCores verifies that each worker knows the cores of all. Here all workers have the same
// affinity, whose cores count once.
func TestCores(t *testing.T) {
	for local, m := range openAll(t, 3, Config{Token: token.New()}) {
		if got := m.Cores(); got != machine.Own() {
			t.Errorf("local=%d: %d cores, want %d", local, got, machine.Own())
		}
	}
}

// TestCoresRace verifies that Cores can be called while workers make arenas, as a
// group's owner may at any time. The race detector verifies that the number is guarded.
func TestCoresRace(t *testing.T) {
	all := openAll(t, 2, Config{Token: token.New()})
	var working sync.WaitGroup
	for local, m := range all {
		made := make(chan struct{})
		working.Go(func() {
			defer close(made)
			for range 20 {
				if _, err := m.Arena(t.Context(), 64); err != nil {
					t.Errorf("local=%d: %v", local, err)
					return
				}
			}
		})
		working.Go(func() {
			for {
				if got := m.Cores(); got != machine.Own() {
					t.Errorf("local=%d: %d cores, want %d", local, got, machine.Own())
				}
				select {
				case <-made:
					return
				default:
				}
			}
		})
	}
	working.Wait()
}
