package bucket

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// rowModel has two tables of 50 rows, one of them behind other variables.
func rowModel() []Variable {
	return append([]Variable{table(50, 2)}, append(model(), table(50, 3))...)
}

// idsOf are the rows that a rank touches in a step: some of them on several ranks, none in the
// last step of rank 1.
func idsOf(step, rank int) []uint32 {
	var ids []uint32
	for id := uint32(0); id < 50; id++ {
		if (int(id)*7+step*3+rank*5)%11 < 4 && (step < 2 || rank != 1) {
			ids = append(ids, id)
		}
	}
	return ids
}

// rowSeed gives each row of a rank values of its own.
func rowSeed(step, rank int, id uint32) uint64 { return uint64(step*10000+rank*100) + uint64(id) }

// stepRows is a backward that fills rows, too.
func stepRows(t *testing.T, r *Reducer, vars []Variable, step, rank int) {
	r.Begin(t.Context())
	ids := idsOf(step, rank)
	values := r.Rows(ids)
	if slices.ContainsFunc(values, func(v float32) bool { return v != 0 }) || len(values) != 5*len(ids) {
		t.Errorf("rank %d step %d: Rows gives %v, want zeros for %d rows", rank, step, values, len(ids))
	}
	for k, id := range ids {
		fill(values[5*k:5*k+5], rowSeed(step, rank, id))
	}
	for _, i := range reverse(len(vars)) {
		fill(r.Grad(i), seedOf(rank, i))
		r.Ready(i)
	}
}

// TestRows verifies the sums of rows and of dense gradients over several steps by an oracle,
// for worlds of one host, of several and over links, and with a codec, which touches no table.
func TestRows(t *testing.T) {
	const steps = 3
	vars := rowModel()
	check := func(t *testing.T, p int, c codec.Codec) func(g *ring.Group) error {
		return func(g *ring.Group) error {
			r, rank := mustReducer(t, g, vars, Config{Codec: c, ErrorFeedback: true, BucketBytes: modelBucket}), g.Membership().Rank
			defer r.Close()
			if r.RowWidth() != 5 || r.RowOffset(0) != 0 || r.RowOffset(len(vars)-1) != 2 {
				t.Errorf("a row has %d elements, the last table begins at %d", r.RowWidth(), r.RowOffset(len(vars)-1))
			}
			for step := range steps {
				stepRows(t, r, vars, step, rank)
				if err := r.Wait(); err != nil {
					return err
				}
				checkRows(t, r, p, step)
				for i, v := range vars {
					lossy := c.Lossy() && g.Compresses() && !v.Exact && v.Len == 4096
					if !v.ByRows {
						checkSum(t, v.Name, r.Grad(i), oracle(p, i, v.Len), lossy)
					}
				}
			}
			return nil
		}
	}
	for _, c := range []codec.Codec{codec.None, codec.Int8} {
		for _, p := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("codec=%v/links/world=%d", c, p), func(t *testing.T) {
				ringtest.Run(t, p, ring.DefaultConfig(), check(t, p, c))
			})
		}
		for _, hosts := range [][]int{{0, 0}, {0, 0, 0}, {0, 0, 1, 1}, {0, 1, 1}} { // by rank: the host
			t.Run(fmt.Sprintf("codec=%v/hosts=%v", c, hosts), func(t *testing.T) {
				ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), check(t, len(hosts), c))
			})
		}
	}
}

// checkRows compares the result of a step with the sum of what all ranks filled.
func checkRows(t *testing.T, r *Reducer, p, step int) {
	t.Helper()
	want, row := map[uint32][5]float32{}, make([]float32, 5)
	for rank := range p {
		for _, id := range idsOf(step, rank) {
			fill(row, rowSeed(step, rank, id))
			sum := want[id]
			for j, v := range row {
				sum[j] += v
			}
			want[id] = sum
		}
	}
	got := 0
	for piece := range r.RowSum().Pieces() {
		ids, values := r.RowSum().Result(0, piece)
		for k, id := range ids {
			if sum := want[id]; !slices.Equal(values[5*k:5*k+5], sum[:]) {
				t.Errorf("step %d: row %d is %v, want %v", step, id, values[5*k:5*k+5], sum)
			}
			got++
		}
	}
	if got != len(want) {
		t.Errorf("step %d: %d rows, want %d", step, got, len(want))
	}
}

// TestRowsNonFinite verifies that the tail names the table in which a rank has a value that is
// not finite, and that a sum of finite rows that is not is found on all ranks alike.
func TestRowsNonFinite(t *testing.T) {
	vars := rowModel()
	last := int32(len(vars))
	ringtest.Run(t, 2, ring.DefaultConfig(), func(g *ring.Group) error {
		r, rank := mustReducer(t, g, vars, Config{BucketBytes: modelBucket}), g.Membership().Rank
		defer r.Close()
		for step, spoil := range []float32{float32(math.NaN()), math.MaxFloat32} {
			r.Begin(t.Context())
			values := r.Rows([]uint32{7, 9})
			if rank == 1 || step == 1 {
				values[5+3] = spoil // of the last table
			}
			for _, i := range reverse(len(vars)) {
				clear(r.Grad(i))
				r.Ready(i)
			}
			if err := r.Wait(); err != nil {
				return err
			}
			tails := []int32{r.Tails()[0].NonFinite, r.Tails()[1].NonFinite}
			if want := []int32{0, last}; step == 0 && !slices.Equal(tails, want) {
				t.Errorf("rank %d: tails name %v, want %v", rank, tails, want)
			}
			if step == 1 && (tails[0]+tails[1] != 0 || int32(r.NonFinite()) != last) {
				t.Errorf("rank %d: tails name %v and the sum %d, want none and %d", rank, tails, r.NonFinite(), last)
			}
		}
		return nil
	})
}

// TestRowsAllocateNothing verifies that a step with rows allocates nothing once its buffers
// have grown.
func TestRowsAllocateNothing(t *testing.T) {
	vars := rowModel()
	ringtest.Run(t, 1, ring.DefaultConfig(), func(g *ring.Group) error {
		r := mustReducer(t, g, vars, Config{BucketBytes: modelBucket})
		defer r.Close()
		ids := idsOf(0, 0)
		step := func() {
			r.Begin(t.Context())
			r.Rows(ids)
			for i := range vars {
				r.Ready(i)
			}
			if err := r.Wait(); err != nil {
				t.Error(err)
			}
		}
		for range 3 {
			step()
		}
		if got := testing.AllocsPerRun(20, step); got != 0 {
			t.Errorf("a step allocates %v times, want 0", got)
		}
		return nil
	})
}
