package ring_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// TestReview14Prefix verifies that the length in the first frame of an all-gather
// reserves nothing: a peer that announces a GiB, sends one frame and goes away makes a
// rank allocate a few frames.
func TestReview14Prefix(t *testing.T) {
	links := memlink.Ring(2)
	links[1] = ringtest.WithFault(links[1], ringtest.Fault{Kind: ringtest.Corrupt, Change: func(f *ring.Frame) {
		binary.LittleEndian.PutUint64(f.Payload, ring.MaxGatheredBytes-100)
	}})
	mine := make([]byte, 1<<20) // as many as fill the first frame
	ringtest.RunOver(t, links, ring.DefaultConfig(), func(g *ring.Group) error {
		if g.Membership().Rank == 1 {
			return errors.Join(g.AllGather(t.Context(), mine, new(ring.Gathered)), g.Close())
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := g.AllGather(t.Context(), nil, new(ring.Gathered))
		runtime.ReadMemStats(&after)
		if err == nil {
			return errors.New("no error, though most of the bytes never came")
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
			return fmt.Errorf("%d MiB were allocated for one frame (%v)", got>>20, err)
		}
		return nil
	})
}
