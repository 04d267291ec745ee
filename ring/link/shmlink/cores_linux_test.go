package shmlink

import (
	"runtime"
	"testing"

	"ringtrain/ring"
)

// TestCores fails if a worker does not know the cores of all: here they are bound
// to the same ones, which must not count for each.
func TestCores(t *testing.T) {
	for local, m := range openAll(t, 3, Config{Token: ring.NewToken()}) {
		if got := m.(interface{ Cores() int }).Cores(); got != runtime.NumCPU() {
			t.Errorf("local=%d: %d cores, want %d", local, got, runtime.NumCPU())
		}
	}
}
