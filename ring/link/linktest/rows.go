package linktest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ringtrain/ring"
)

// rowTables are tables of which the first is summed by rows, and the second densely with two or more ranks.
var rowTables = []ring.Table{{Rows: 1 << 22, Width: 1}, {Rows: 60, Width: 3}}

// rowIDs returns the ids of a table that a rank has in a step. Their number grows with the step.
func rowIDs(table, rank, step int) []uint32 {
	var ids []uint32
	for k := range 300 * (1 + 5*step) {
		if id := uint32(k * (rank + 1)); id < rowTables[table].Rows {
			ids = append(ids, id)
		}
	}
	return ids
}

// rowValue returns element w of a rank's row. Sums of it are exact.
func rowValue(rank int, id uint32, w int) float32 { return float32(int(id)%31 + 7*rank + w) }

// SumRows runs one rank's part of sums of rows and compares each with the expected sum.
func SumRows(ctx context.Context, g *ring.Group) error {
	m := g.Membership()
	s, err := g.NewRowSum(ctx, rowTables)
	if err != nil {
		return err
	}
	for step := range 3 {
		for i, t := range rowTables {
			own := rowIDs(i, m.Rank, step)
			ids, values := s.Input(i, len(own))
			copy(ids, own)
			for k := range values {
				values[k] = rowValue(m.Rank, own[k/t.Width], k%t.Width)
			}
		}
		if err := g.SumRows(ctx, s, nil, nil); err != nil {
			return err
		}
		for i := range rowTables {
			if err := checkRows(s, i, m.Size(), step); err != nil {
				return fmt.Errorf("step %d: table %d: %w", step, i, err)
			}
		}
	}
	return g.Barrier(ctx) // a rank that closes its memory ends the others' operations
}

// checkRows compares a sum with the contributions of p ranks.
func checkRows(s *ring.RowSum, table, p, step int) error {
	width := rowTables[table].Width
	want := map[uint32][]float32{}
	for rank := range p {
		for _, id := range rowIDs(table, rank, step) {
			if want[id] == nil {
				want[id] = make([]float32, width)
			}
			for w := range width {
				want[id][w] += rowValue(rank, id, w)
			}
		}
	}
	rows, next := 0, uint32(0)
	for piece := range s.Pieces() {
		ids, values := s.Result(table, piece)
		for k, id := range ids {
			if got := values[k*width : (k+1)*width]; id < next || !slices.Equal(got, want[id]) {
				return fmt.Errorf("id %d is %v, want %v and an id of %d or more", id, got, want[id], next)
			}
			next = id + 1
		}
		rows += len(ids)
	}
	if rows != len(want) {
		return fmt.Errorf("%d rows, want %d", rows, len(want))
	}
	return nil
}

// testRowsInMemory verifies sums of rows in shared memory, which grows meanwhile.
func testRowsInMemory(t *testing.T, all []ring.Memory) {
	m := ring.Membership{JobID: "job-1", Generation: Generation}
	for rank := range all {
		m.Workers = append(m.Workers, ring.Worker{Rank: rank, Host: "here", HostID: "here", Incarnation: uint64(100 + rank)})
	}
	eachWorker(t, all, func(rank int, memory ring.Memory) error {
		m := m
		m.Rank = rank
		g, err := ring.New(t.Context(), m, ring.Transport{Memory: memory}, ring.DefaultConfig())
		if err != nil {
			return err
		}
		defer g.Close()
		return SumRows(t.Context(), g)
	})
}
