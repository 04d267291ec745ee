package memlink_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/link/memlink"
)

// TestMemoryConformance verifies that memory within one process is a ring.Memory.
func TestMemoryConformance(t *testing.T) {
	linktest.Memory(t, func(_ *testing.T, p int) []ring.Memory { return memlink.Memory(p) })
}

// TestMemoryInBubble verifies that a waiting worker is durably blocked. Else the clock of a
// bubble would stand still.
func TestMemoryInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := memlink.Memory(2)
		time.AfterFunc(time.Hour, func() { all[1].Close() })
		start := time.Now()
		if err := all[0].Sync(t.Context()); err == nil || errors.Is(err, ring.ErrClosed) {
			t.Errorf("sync: error %v, want that the other worker has left", err)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("took %v, want 1h", took)
		}
	})
}
