package shmlink

import (
	"testing"

	machine "ringtrain/ring/cores"
	"ringtrain/ring/token"
)

// TestCores verifies that each worker knows the cores of all. Here all workers have the same
// affinity, whose cores count once.
func TestCores(t *testing.T) {
	for local, m := range openAll(t, 3, Config{Token: token.New()}) {
		if got := m.(interface{ Cores() int }).Cores(); got != machine.Own() {
			t.Errorf("local=%d: %d cores, want %d", local, got, machine.Own())
		}
	}
}
