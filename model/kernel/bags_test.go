package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawBags returns n random bags of at most most pairs over the first rows of a table.
// Some are empty, and a row may occur twice.
func drawBags(n, rows, most int, seed uint64) *Bags {
	r := rand.New(rand.NewPCG(seed, 3))
	b := &Bags{Start: []int32{0}, Step: 1}
	for range n {
		for range r.IntN(most + 1) {
			b.Slot = append(b.Slot, r.Uint32N(uint32(rows)))
			b.Weights = append(b.Weights, float32(r.NormFloat64()))
		}
		b.Start = append(b.Start, int32(len(b.Slot)))
	}
	return b
}

// clone returns a copy of a table.
func (t Table) clone() Table { t.Data = slices.Clone(t.Data); return t }

// drawTable returns rows of a width with gaps between them.
func drawTable(rows, width, gap int, values func(int, uint64) []float32, seed uint64) Table {
	return Table{Data: values(rows*(width+gap), seed), Width: width, Stride: width + gap}
}

var bagShapes = []struct{ width, gap, units, step, most int }{
	{1, 0, 1, 1, 5}, {1, 8, 1, 1, 40}, {3, 0, 3, 1, 5}, {7, 2, 1, 2, 3}, {8, 0, 1, 1, 5}, {8, 1, 1, 3, 3}, {9, 0, 1, 1, 4},
	{16, 1, 2, 1, 6}, {16, 0, 1, 1, 6}, {24, 1, 3, 2, 3}, {30, 0, 3, 1, 3}, {33, 3, 1, 1, 3}, {40, 0, 2, 1, 3},
}

// TestBagsAgree verifies that every set gives the portable body's bits for every kernel
// of bags: widths around a vector, rows with gaps, joined bags, factors of bags, numbers
// of all sizes, and one or several threads.
func TestBagsAgree(t *testing.T) {
	const n, rows = 300, 50
	portable := New(Portable, 1)
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, s := range bagShapes {
			for name, values := range map[string]func(int, uint64) []float32{"random": random, "wild": wild} {
				what := fmt.Sprintf("%s width=%d gap=%d units=%d step=%d", name, s.width, s.gap, s.units, s.step)
				b := drawBags(n*s.step, rows, s.most, 5)
				b.Step = s.step
				table, grad := drawTable(rows, s.width, s.gap, values, 1), drawTable(rows, s.width, s.gap, values, 2)
				for _, scale := range [][]float32{nil, values(n, 3)} {
					b.Scale = scale
					want, got := dirty(n*s.width), dirty(n*s.width)
					portable.PoolRows(want, table, b)
					e.PoolRows(got, table, b)
					wantSame(t, "PoolRows "+what, got, want)
					wantGrad, gotGrad := grad.clone(), grad.clone()
					d := values(n*s.width, 4)
					portable.PoolRowsGrad(wantGrad, d, b)
					e.PoolRowsGrad(gotGrad, d, b)
					wantSame(t, "PoolRowsGrad "+what, gotGrad.Data, wantGrad.Data)
				}
				wantSum, gotSum := dirty(n*s.width), dirty(n*s.width)
				want, got := dirty(n*s.units), dirty(n*s.units)
				portable.Interact(want, wantSum, table, s.units, b)
				e.Interact(got, gotSum, table, s.units, b)
				wantSame(t, "Interact "+what, got, want)
				wantSame(t, "sums of Interact "+what, gotSum, wantSum)
				wantGrad, gotGrad := grad.clone(), grad.clone()
				dy := values(n*s.units, 6)
				portable.InteractGrad(wantGrad, dy, wantSum, table, s.units, b)
				e.InteractGrad(gotGrad, dy, wantSum, table, s.units, b)
				wantSame(t, "InteractGrad "+what, gotGrad.Data, wantGrad.Data)
			}
		}
	})
}

// TestGatherRowsAgree verifies that the rows of the ids are copied, for numbers of rows
// around the prefetch distance, and that the elements after them do not change.
func TestGatherRowsAgree(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, s := range bagShapes {
			table := drawTable(100, s.width, s.gap, random, 1)
			for _, n := range []int{0, 1, 2, 15, 16, 17, 40, 100} {
				ids := make([]uint32, n)
				for i := range ids {
					ids[i] = uint32(100 - n + i)
				}
				got, want := dirty(n*s.width+16), dirty(n*s.width+16)
				e.GatherRows(got[:n*s.width], table, ids)
				for i, id := range ids {
					copy(want[i*s.width:], table.row(id))
				}
				wantSame(t, fmt.Sprintf("width=%d n=%d", s.width, n), got, want)
			}
		}
	})
}

// TestInteractIsPairwise verifies the sum of all products of two pairs against a float64
// sum pair by pair, and its derivatives against differences.
func TestInteractIsPairwise(t *testing.T) {
	const n, rows, width, units = 20, 12, 6, 2
	b := drawBags(n, rows, 6, 9)
	table := drawTable(rows, width, 0, random, 1)
	pairwise := func(bag, unit int) float64 {
		sum, part := 0.0, width/units
		first, last := b.bag(bag)
		for p := first; p < last; p++ {
			for q := first; q < p; q++ {
				v, w := table.row(b.Slot[p])[unit*part:], table.row(b.Slot[q])[unit*part:]
				for j := range part {
					sum += float64(b.Weights[p]) * float64(b.Weights[q]) * float64(v[j]) * float64(w[j])
				}
			}
		}
		return sum
	}
	y, sum, dy := make([]float32, n*units), make([]float32, n*width), random(n*units, 7)
	e := New(highest(), 1)
	e.Interact(y, sum, table, units, b)
	objective := func() float64 {
		total := 0.0
		for i := range y {
			total += pairwise(i/units, i%units) * float64(dy[i])
		}
		return total
	}
	for i, got := range y {
		if want := pairwise(i/units, i%units); math.Abs(float64(got)-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("bag %d, unit %d: %g, want %g", i/units, i%units, got, want)
		}
	}
	grad := Table{Data: make([]float32, len(table.Data)), Width: width, Stride: width}
	e.InteractGrad(grad, dy, sum, table, units, b)
	for i, at := range table.Data {
		table.Data[i] = at + 0x1p-7
		up := objective()
		table.Data[i] = at - 0x1p-7
		want := (up - objective()) * 0x1p6
		table.Data[i] = at
		if got := float64(grad.Data[i]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf("gradient of element %d is %g, difference %g", i, got, want)
		}
	}
}

// TestBagsAllocate verifies that no kernel of bags allocates, also for empty batches.
func TestBagsAllocate(t *testing.T) {
	const n, rows, width = 3000, 500, 8
	for _, e := range engines(t, 1, 2) {
		b, none := drawBags(n, rows, 20, 1), &Bags{}
		table := drawTable(rows, width, 0, random, 1)
		out, y, ids := make([]float32, n*width), make([]float32, n), make([]uint32, rows)
		for i := range ids {
			ids[i] = uint32(i)
		}
		compact := make([]float32, rows*width)
		got := testing.AllocsPerRun(5, func() {
			e.GatherRows(compact, table, ids)
			e.PoolRows(out, table, b)
			e.PoolRowsGrad(table, out, b)
			e.Interact(y, out, table, 1, b)
			e.InteractGrad(table, y, out, table, 1, b)
			e.PoolRows(nil, table, none)
			e.PoolRowsGrad(table, nil, none)
			e.Interact(nil, nil, table, 1, none)
		})
		if got != 0 {
			t.Errorf("%v: %v allocations, want 0", e, got)
		}
	}
}

// TestBagsWrongLength verifies that wrong lengths panic with a message.
func TestBagsWrongLength(t *testing.T) {
	e, b := New(Portable, 1), drawBags(2, 3, 2, 1)
	table := Table{Data: make([]float32, 12), Width: 4, Stride: 4}
	y := make([]float32, 8)
	for want, f := range map[string]func(){
		"kernel: PoolRows: length does not match shape":     func() { e.PoolRows(y[:7], table, b) },
		"kernel: PoolRowsGrad: length does not match shape": func() { e.PoolRowsGrad(table, y[:7], b) },
		"kernel: Interact: length does not match shape":     func() { e.Interact(y[:2], y, table, 3, b) },
		"kernel: InteractGrad: length does not match shape": func() { e.InteractGrad(table, y[:1], y, table, 1, b) },
		"kernel: GatherRows: length does not match shape":   func() { e.GatherRows(y, table, []uint32{1}) },
		"kernel: GatherRows: id is out of range":            func() { e.GatherRows(y[:4], table, []uint32{3}) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %s", got, want)
				}
			}()
			f()
		}()
	}
}

// BenchmarkBags measures a share of 2,000 examples of 39 ids with rows of 8. The bytes
// are those of the rows of the pairs.
func BenchmarkBags(b *testing.B) {
	const n, ids, width = 2000, 39, 8
	for _, rows := range []int{1 << 12, 1 << 15} {
		bags := &Bags{Step: 1, Start: []int32{0}}
		r := rand.New(rand.NewPCG(1, 2))
		for range n {
			for range ids {
				bags.Slot, bags.Weights = append(bags.Slot, r.Uint32N(uint32(rows))), append(bags.Weights, 1)
			}
			bags.Start = append(bags.Start, int32(len(bags.Slot)))
		}
		table, grad := drawTable(rows, width, 0, random, 1), drawTable(rows, width, 1, random, 2)
		out, y := make([]float32, n*width), make([]float32, n)
		for _, e := range engines(b, 1) {
			for name, f := range map[string]func(){
				"pool":         func() { e.PoolRows(out, table, bags) },
				"poolGrad":     func() { e.PoolRowsGrad(grad, out, bags) },
				"interact":     func() { e.Interact(y, out, table, 1, bags) },
				"interactGrad": func() { e.InteractGrad(grad, y, out, table, 1, bags) },
			} {
				b.Run(fmt.Sprintf("kernel=%s/rows=%d/%v", name, rows, e), func(b *testing.B) {
					b.SetBytes(n * ids * width * 4)
					for b.Loop() {
						f()
					}
				})
			}
		}
	}
}
