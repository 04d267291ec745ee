package ring_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// TestRowSumAllocatesNothing verifies that a sum of rows allocates nothing once its memory has
// grown.
func TestRowSumAllocatesNothing(t *testing.T) {
	tables := []ring.Table{{Rows: 1 << 20, Width: 1}, {Rows: 1 << 20, Width: 9}, {Rows: 500, Width: 2}}
	do := func(g *ring.Group) (func() error, error) {
		s, err := g.NewRowSum(t.Context(), tables)
		if err != nil {
			return nil, err
		}
		m := g.Membership()
		r := rand.New(rand.NewPCG(2, uint64(m.Rank)))
		all := []rows{rowsOf(r, tables[0], 3000), rowsOf(r, tables[1], 300), rowsOf(r, tables[2], 5000)}
		dense, tails := make([]float32, 100), make([]byte, m.Size()*ring.TailBytes)
		return func() error {
			for i, x := range all {
				ids, values := s.Input(i, len(x.ids))
				copy(ids, x.ids)
				copy(values, x.values)
			}
			return g.SumRows(t.Context(), s, dense, tails)
		}, nil
	}
	var n float64
	run := func(g *ring.Group) error {
		step, err := do(g)
		if err != nil {
			return err
		}
		for range 10 { // links keep memory for a few frames in turn, and frames differ in length
			if err := step(); err != nil {
				return err
			}
		}
		got, err := allocationsOf(g, step)
		if g.Membership().Rank == 0 {
			n = got
		}
		return cmp.Or(err, g.Barrier(t.Context())) // allocations of Close do not count
	}
	for name, over := range map[string]func(){
		"alone":  func() { ringtest.Run(t, 1, small(nil), run) },
		"host":   func() { ringtest.RunOnHosts(t, onOne(3), small(nil), run) },
		"hosts":  func() { ringtest.RunOnHosts(t, []int{0, 0, 1, 1, 2, 2, 3, 3}, small(nil), run) },
		"two":    func() { ringtest.RunOnHosts(t, []int{0, 0, 1}, small(nil), run) },
		"rounds": func() { overMesh(t, memlink.Mesh(4), small(nil), run) },
		"ring":   func() { ringtest.Run(t, 3, small(nil), run) },
	} {
		t.Run(fmt.Sprintf("over=%s", name), func(t *testing.T) {
			over()
			if n != 0 {
				t.Errorf("%v allocations per sum of all ranks, want 0", n)
			}
		})
	}
}
