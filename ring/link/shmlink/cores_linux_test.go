package shmlink

import (
	"testing"

	machine "ringtrain/ring/cores"
	"ringtrain/ring/token"
)

// TestCores fails if a worker does not know the cores of all: here they are bound
// to the same ones, which must not count for each.
func TestCores(t *testing.T) {
	for local, m := range openAll(t, 3, Config{Token: token.New()}) {
		if got := m.(interface{ Cores() int }).Cores(); got != machine.Own() {
			t.Errorf("local=%d: %d cores, want %d", local, got, machine.Own())
		}
	}
}
