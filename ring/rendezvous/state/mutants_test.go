package state

import (
	"os"
	"testing"
)

// mutant is a way in which the protocol is broken on purpose.
type mutant struct {
	name  string
	lives uint64 // within which it is caught
	set   func(*world)
}

var mutants = []mutant{
	{"fence", 10_000, func(w *world) { w.noFence = true }},
	{"newer only", 100, func(w *world) { w.takesAny = true }},
	{"quorum", 10_000, func(w *world) { w.noQuorum = true }},
	{"incarnation check", 100, func(w *world) { w.noIncarnation = true }},
	{"settle", 10_000, func(w *world) { w.noSettle = true }},
	{"ready after close", 100, func(w *world) { w.readyFirst = true }},
	{"taken", 1_000_000, func(w *world) { w.noTaken = true }},
}

// TestSimulationCatches verifies that the simulation finds the fault of a protocol in which one rule
// is missing.
func TestSimulationCatches(t *testing.T) {
	limit := uint64(10_000)
	switch {
	case testing.Short():
		t.Log("long: rules that few lives need")
		limit = 100
	case os.Getenv("RINGTRAIN_SIMULATE") != "":
		limit = 1_000_000
	}
	for _, m := range mutants {
		if m.lives > limit {
			continue
		}
		t.Run("without="+m.name, func(t *testing.T) {
			t.Parallel()
			for seed := range m.lives {
				if err := newWorld(seed, m.set).live(); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Errorf("%d lives, and nothing was found", m.lives)
		})
	}
}
