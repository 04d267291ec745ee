package train

import (
	"slices"
	"testing"

	"ringtrain/model/kernel"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// TestRowsHead verifies that a head of rows decodes as encoded.
func TestRowsHead(t *testing.T) {
	h := rowsHead{rows: 7, rate: 0.5, adjust: kernel.Adjust{L1: 1, L2: 2, Bound: 3, Factor: 4}}
	if b := h.encode(); len(b) != rowsHeadBytes || decodeRowsHead(b) != h {
		t.Errorf("%+v became %+v in %d bytes", h, decodeRowsHead(b), len(b))
	}
}

// TestCatchUpRefuses verifies that no rows of a peer make a rank write outside of its tables, or
// allocate more than their size.
func TestCatchUpRefuses(t *testing.T) {
	ringtest.Run(t, 1, ring.DefaultConfig(), func(g *ring.Group) error {
		tr, err := newTrainer(loadText(t, clicksText), Options{Resume: "auto"}, clicksData())
		if err != nil {
			return err
		}
		r, err := tr.newRun(t.Context(), Team{Group: g, Link: "none"})
		if err != nil {
			return err
		}
		defer r.close()
		rows, x := tr.tableRows(), &transfer{group: g, replica: &tr.replica, rowWidth: r.loop.Reducer.RowWidth()}
		for _, ids := range [][]uint32{{3, 3}, {4, 1}, {uint32(rows)}, {1 << 31}} {
			k := lastRows{ids: ids, values: make([]float32, len(ids))}
			if err := x.catchUp(1, k); exitcode.Of(err) != exitcode.Protocol {
				t.Errorf("rows %v: error %v (%d), want code %d", ids, err, exitcode.Of(err), exitcode.Protocol)
			}
		}
		for _, n := range []int64{-1, int64(rows) + 1, 1 << 62} {
			if _, err := x.allocateRows(1, rowsHead{rows: n}); exitcode.Of(err) != exitcode.Protocol {
				t.Errorf("%d rows: error %v, want code %d", n, err, exitcode.Protocol)
			}
		}
		k, err := x.allocateRows(1, rowsHead{rows: 2})
		if err != nil || len(k.ids) != 2 || len(slices.Concat(k.segments()...)) != 2*4+2*4 {
			t.Errorf("room for 2 rows: %+v, error %v", k, err)
		}
		return nil
	})
}

// TestGatherEqual verifies that a peer that sends too few bytes is an error.
func TestGatherEqual(t *testing.T) {
	for _, n := range []int{0, 7, 9} {
		ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
			if g.Membership().Rank == 1 {
				return g.AllGather(t.Context(), make([]byte, n), new(ring.Gathered))
			}
			if _, err := gatherEqual(t.Context(), g, make([]byte, 8)); exitcode.Of(err) != exitcode.Protocol {
				t.Errorf("%d bytes: error %v (%d), want code %d", n, err, exitcode.Of(err), exitcode.Protocol)
			}
			return nil
		})
	}
}
