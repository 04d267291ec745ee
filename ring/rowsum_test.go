package ring_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// rows are a rank's rows of a table.
type rows struct {
	ids    []uint32
	values []float32
}

// rowsOf returns random rows of a table by ascending ids, n at most.
func rowsOf(r *rand.Rand, t ring.Table, n int) rows {
	var x rows
	for range n {
		x.ids = append(x.ids, r.Uint32N(t.Rows))
	}
	slices.Sort(x.ids)
	x.ids = slices.Compact(x.ids)
	for range len(x.ids) * t.Width {
		x.values = append(x.values, float32(r.NormFloat64()))
	}
	return x
}

// rowCase is the input of several sums: steps[k][rank][table].
type rowCase struct {
	tables []ring.Table
	dense  int
	steps  [][][]rows
}

// rowCases returns cases for p ranks: disjoint, equal and missing ids, narrow and wide rows, and
// more rows from step to step.
func rowCases(p int) map[string]rowCase {
	r := rand.New(rand.NewPCG(1, uint64(p)))
	tables := []ring.Table{{Rows: 1000, Width: 1}, {Rows: 1 << 31, Width: 9}, {Rows: 1, Width: 3}, {Rows: 7, Width: 2}}
	drawn := rowCase{tables: tables, dense: 100}
	for _, n := range []int{3, 0, 400, 50, 1000, 20} {
		var step [][]rows
		for rank := range p {
			var of []rows
			for i, t := range tables {
				n := n
				if (rank+i)%4 == 3 {
					n = 0
				}
				of = append(of, rowsOf(r, t, n))
			}
			step = append(step, of)
		}
		drawn.steps = append(drawn.steps, step)
	}
	one := []ring.Table{{Rows: 5000, Width: 1}}
	equal, apart, last := rowCase{tables: one, dense: 3000}, rowCase{tables: one}, rowCase{tables: one}
	for _, n := range []int{40, 700, 700} {
		same := rowsOf(r, one[0], n)
		var alike, split, end [][]rows
		for rank := range p {
			alike = append(alike, []rows{same})
			lo, hi := len(same.ids)*rank/p, len(same.ids)*(rank+1)/p
			split = append(split, []rows{{same.ids[lo:hi], same.values[lo:hi]}})
			x := rows{}
			if rank == p-1 {
				x = same
			}
			end = append(end, []rows{x})
		}
		equal.steps, apart.steps, last.steps = append(equal.steps, alike), append(apart.steps, split), append(last.steps, end)
	}
	return map[string]rowCase{"drawn": drawn, "equal": equal, "apart": apart, "last": last}
}

// A rowResult is what a rank has after a step.
type rowResult struct {
	tables []rows // all pieces
	dense  []float32
}

// run sums all steps on one rank and returns the results. It checks the tails, the counts, and
// that the result of the previous step has not changed.
func (c rowCase) run(t testing.TB, g *ring.Group) ([]rowResult, error) {
	m := g.Membership()
	s, err := g.NewRowSum(t.Context(), c.tables)
	if err != nil {
		return nil, err
	}
	var results []rowResult
	for k, step := range c.steps {
		for i, x := range step[m.Rank] {
			if len(x.ids) == 0 && k%2 == 0 {
				continue // a table without a call has no rows
			}
			ids, values := s.Input(i, len(x.ids))
			copy(ids, x.ids)
			copy(values, x.values)
		}
		dense := make([]float32, c.dense)
		for i := range dense {
			dense[i] = float32(i%7+k) / float32(m.Rank+1)
		}
		tails := make([]byte, m.Size()*ring.TailBytes)
		copy(tails[m.Rank*ring.TailBytes:], tailOf(m.Rank, k))
		before := c.held(s)
		if err := g.SumRows(t.Context(), s, dense, tails); err != nil {
			return nil, fmt.Errorf("step %d: %w", k, err)
		}
		for r := range m.Size() {
			if got := tails[r*ring.TailBytes:][:ring.TailBytes]; !bytes.Equal(got, tailOf(r, k)) {
				return nil, fmt.Errorf("step %d: tail of rank %d is %x", k, r, got)
			}
		}
		results = append(results, rowResult{c.whole(s, s.Result), dense})
		if k > 0 {
			before := c.whole(s, before)
			for i := range before {
				if !slices.Equal(before[i].ids, results[k-1].tables[i].ids) || !slices.Equal(before[i].values, results[k-1].tables[i].values) {
					return nil, fmt.Errorf("step %d: table %d: the result of the previous step has changed", k, i)
				}
			}
		}
		for i := range c.tables {
			want := c.counts(k, i)
			if got := s.Counts(i); got != want {
				return nil, fmt.Errorf("step %d: table %d: counts are %v, want %v", k, i, got, want)
			}
			way := ring.ByRows
			if g.Compresses() {
				way = ring.WayOfRows(c.tables[i], want.Rows)
			}
			if got := s.Way(i); got != way {
				return nil, fmt.Errorf("step %d: table %d: it went by %v, want by %v", k, i, got, way)
			}
			if s.NonFinite() != 0 {
				return nil, fmt.Errorf("step %d: sum %d is not finite", k, s.NonFinite())
			}
		}
	}
	return results, nil
}

// whole returns all pieces of a result as one.
func (c rowCase) whole(s *ring.RowSum, result func(table, piece int) ([]uint32, []float32)) []rows {
	all := make([]rows, len(c.tables))
	for i := range all {
		for piece := range s.Pieces() {
			ids, values := result(i, piece)
			all[i].ids, all[i].values = append(all[i].ids, ids...), append(all[i].values, values...)
		}
	}
	return all
}

// held returns the pieces of the last sum as they lie in memory.
func (c rowCase) held(s *ring.RowSum) func(table, piece int) ([]uint32, []float32) {
	ids, values := map[[2]int][]uint32{}, map[[2]int][]float32{}
	for i := range c.tables {
		for piece := range s.Pieces() {
			ids[[2]int{i, piece}], values[[2]int{i, piece}] = s.Result(i, piece)
		}
	}
	return func(table, piece int) ([]uint32, []float32) {
		return ids[[2]int{table, piece}], values[[2]int{table, piece}]
	}
}

func (c rowCase) counts(step, table int) ring.RowCounts {
	var n ring.RowCounts
	union := map[uint32]bool{}
	for _, of := range c.steps[step] {
		n.Rows += int64(len(of[table].ids))
		for _, id := range of[table].ids {
			union[id] = true
		}
	}
	n.Union = len(union)
	return n
}

// check compares a result with the sum in float64. Each of p-1 additions rounds by 2⁻²⁴ of a
// partial sum, which is below the sum of magnitudes.
func (c rowCase) check(t *testing.T, step int, got rowResult) {
	t.Helper()
	for i, table := range c.tables {
		sum, size := map[uint32][]float64{}, map[uint32][]float64{}
		for _, of := range c.steps[step] {
			for k, id := range of[i].ids {
				if sum[id] == nil {
					sum[id], size[id] = make([]float64, table.Width), make([]float64, table.Width)
				}
				for w, v := range of[i].values[k*table.Width:][:table.Width] {
					sum[id][w] += float64(v)
					size[id][w] += math.Abs(float64(v))
				}
			}
		}
		x := got.tables[i]
		if len(x.ids) != len(sum) || len(x.values) != len(x.ids)*table.Width || !slices.IsSorted(x.ids) {
			t.Fatalf("step %d: table %d: %d ids and %d values, want %d ascending ids", step, i, len(x.ids), len(x.values), len(sum))
		}
		for k, id := range x.ids {
			for w, v := range x.values[k*table.Width:][:table.Width] {
				if off := math.Abs(float64(v) - sum[id][w]); !(off <= float64(len(c.steps[step]))*0x1p-24*size[id][w]) {
					t.Fatalf("step %d: table %d: id %d: element %d is %g, want %g", step, i, id, w, v, sum[id][w])
				}
			}
		}
	}
	p := len(c.steps[step])
	for i, v := range got.dense {
		want := 0.0
		for rank := range p {
			want += float64(float32(i%7+step) / float32(rank+1))
		}
		if !(math.Abs(float64(v)-want) <= 1e-6*want) {
			t.Fatalf("step %d: dense element %d is %g, want %g", step, i, v, want)
		}
	}
}

// same verifies that two results have equal bits.
func (r rowResult) same(t *testing.T, what string, y rowResult) {
	t.Helper()
	sameBits(t, what+": dense", r.dense, y.dense)
	for i := range r.tables {
		if !slices.Equal(r.tables[i].ids, y.tables[i].ids) {
			t.Fatalf("%s: table %d: ids differ", what, i)
		}
		sameBits(t, fmt.Sprintf("%s: table %d", what, i), r.tables[i].values, y.tables[i].values)
	}
}

// sumRows runs a case twice on all ranks and checks all results. over calls its argument on each
// rank.
func (c rowCase) sumRows(t *testing.T, p int, over func(fn func(g *ring.Group) error)) {
	t.Helper()
	var first []rowResult
	for round := range 2 {
		results := make([][]rowResult, p)
		over(func(g *ring.Group) (err error) {
			results[g.Membership().Rank], err = c.run(t, g)
			return err
		})
		if t.Failed() {
			return
		}
		if round == 0 {
			first = results[0]
		}
		for k := range c.steps {
			c.check(t, k, results[0][k])
			for rank := range results {
				results[rank][k].same(t, fmt.Sprintf("round %d: step %d: rank %d", round, k, rank), first[k])
			}
		}
	}
}

// TestRowSumOnOneHost verifies sums of rows by float64, and that the bits of all ranks and of
// a second run are equal.
func TestRowSumOnOneHost(t *testing.T) {
	for p := 1; p <= 9; p++ {
		for name, c := range rowCases(p) {
			t.Run(fmt.Sprintf("p=%d/%s", p, name), func(t *testing.T) {
				c.sumRows(t, p, func(fn func(g *ring.Group) error) { ringtest.RunOnHosts(t, onOne(p), small(nil), fn) })
			})
		}
	}
}

// TestRowSumOnHosts is TestRowSumOnOneHost for several hosts.
func TestRowSumOnHosts(t *testing.T) {
	hosts := append(layouts(), []int{0, 1, 2, 3}, []int{0, 0, 1, 1, 2, 2, 3, 3}, []int{0, 0, 0, 0, 1, 1, 1, 1}, []int{0, 1, 2, 3, 4, 5, 6, 7, 7})
	for _, of := range hosts {
		for name, c := range rowCases(len(of)) {
			t.Run(fmt.Sprintf("hosts=%v/%s", of, name), func(t *testing.T) {
				c.sumRows(t, len(of), func(fn func(g *ring.Group) error) { ringtest.RunOnHosts(t, of, small(nil), fn) })
			})
		}
	}
}

// TestRowSumFlat is TestRowSumOnOneHost over links alone, with and without rounds.
func TestRowSumFlat(t *testing.T) {
	for _, p := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17} {
		for name, c := range rowCases(p) {
			t.Run(fmt.Sprintf("p=%d/%s/ring", p, name), func(t *testing.T) {
				c.sumRows(t, p, func(fn func(g *ring.Group) error) { ringtest.Run(t, p, small(nil), fn) })
			})
			t.Run(fmt.Sprintf("p=%d/%s/rounds", p, name), func(t *testing.T) {
				c.sumRows(t, p, func(fn func(g *ring.Group) error) { overMesh(t, memlink.Mesh(p), small(nil), fn) })
			})
		}
	}
}

// TestRowSumInOrder is TestRowSumFlat for rings that follow a random order of ranks, and for
// hosts in another order than that of their ranks.
func TestRowSumInOrder(t *testing.T) {
	for _, p := range []int{2, 3, 4, 5, 8} {
		for name, c := range rowCases(p) {
			t.Run(fmt.Sprintf("p=%d/%s", p, name), func(t *testing.T) {
				c.sumRows(t, p, func(fn func(g *ring.Group) error) { inOrder(t, shuffled(p), small(nil), fn) })
			})
		}
	}
	hosts := []int{0, 1, 2, 3, 0, 1, 2, 3}
	order := []int{3, 7, 1, 5, 2, 6, 0, 4}
	for name, c := range rowCases(len(hosts)) {
		t.Run(fmt.Sprintf("hosts/%s", name), func(t *testing.T) {
			c.sumRows(t, len(hosts), func(fn func(g *ring.Group) error) {
				var members []ring.Membership
				for rank := range hosts {
					m := ringtest.OnHosts(hosts, rank)
					m.Order.Workers = order
					members = append(members, m)
				}
				overMembers(t, members, orderedOnHosts(hosts, order), fn)
			})
		})
	}
}

// TestRowSumNotFinite verifies that all ranks learn of a NaN in one rank's rows and of a sum
// that overflows, and that NonFinite names the right table.
func TestRowSumNotFinite(t *testing.T) {
	tables := []ring.Table{{Rows: 100, Width: 2}, {Rows: 1000, Width: 1}, {Rows: 2, Width: 1}}
	for _, hosts := range [][]int{onOne(1), onOne(3), {0, 0, 1}, {0, 1, 2, 3}} {
		for table := range tables {
			ringtest.RunOnHosts(t, hosts, small(nil), func(g *ring.Group) error {
				s, err := g.NewRowSum(t.Context(), tables)
				if err != nil {
					return err
				}
				rank := g.Membership().Rank
				for step, bad := range []float32{1, float32(math.NaN()), math.MaxFloat32, 2} {
					for i := range tables {
						ids, values := s.Input(i, 2)
						ids[0], ids[1] = 0, 1
						for k := range values {
							values[k] = 1
						}
						if i == table && (bad == math.MaxFloat32 || rank == len(hosts)-1) {
							values[len(values)-1] = bad
						}
						if got, want := s.Finite(i), bad == bad || i != table || rank != len(hosts)-1; got != want {
							return fmt.Errorf("step %d: table %d: own rows are finite: %v, want %v", step, i, got, want)
						}
					}
					if err := g.SumRows(t.Context(), s, nil, nil); err != nil {
						return err
					}
					want := 0
					if bad != bad || bad == math.MaxFloat32 && len(hosts) > 1 {
						want = table + 1
					}
					if got := s.NonFinite(); got != want {
						return fmt.Errorf("hosts=%v: step %d: sum %d is not finite, want %d", hosts, step, got, want)
					}
				}
				return nil
			})
		}
	}
}

// skewed returns random rows, n at most, with frequent low ids.
func skewed(r *rand.Rand, t ring.Table, n int) rows {
	var x rows
	for range n {
		x.ids = append(x.ids, uint32(math.Pow(float64(t.Rows), r.Float64())-1))
	}
	slices.Sort(x.ids)
	x.ids = slices.Compact(x.ids)
	x.values = make([]float32, len(x.ids)*t.Width)
	for i := range x.values {
		x.values[i] = float32(r.NormFloat64())
	}
	return x
}

// TestRowSumBytes verifies that a host sends at most a tenth more than a reduce-scatter of its
// own rows and an all-gather of the sum need, with 4 bytes for each id and each element.
func TestRowSumBytes(t *testing.T) {
	draws := 39_000
	if testing.Short() {
		t.Log("long: fewer rows")
		draws = 8_000
	}
	for _, hosts := range [][]int{{0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0, 0, 1, 1, 2, 2, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7}} {
		for name, draw := range map[string]func(*rand.Rand, ring.Table, int) rows{"even": rowsOf, "skewed": skewed} {
			for _, table := range []ring.Table{{Rows: 1 << 20, Width: 1}, {Rows: 1 << 25, Width: 1}, {Rows: 1 << 20, Width: 9}} {
				t.Run(fmt.Sprintf("hosts=%v/%s/rows=%d/width=%d", hosts, name, table.Rows, table.Width), func(t *testing.T) {
					sent, own, union := make([]int64, len(hosts)), make([]map[uint32]bool, len(hosts)), 0
					for h := range own {
						own[h] = map[uint32]bool{}
					}
					all := make([][]rows, len(hosts))
					for rank := range hosts {
						r := rand.New(rand.NewPCG(7, uint64(rank)))
						all[rank] = []rows{draw(r, table, draws), draw(r, table, draws)}
						for _, id := range all[rank][1].ids {
							own[hosts[rank]][id] = true
						}
					}
					ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
						s, err := g.NewRowSum(t.Context(), []ring.Table{table})
						if err != nil {
							return err
						}
						rank := g.Membership().Rank
						var before int64
						for _, x := range all[rank] {
							ids, values := s.Input(0, len(x.ids))
							copy(ids, x.ids)
							copy(values, x.values)
							_, before = g.SentBytes()
							if err := g.SumRows(t.Context(), s, nil, nil); err != nil {
								return err
							}
						}
						_, sent[rank] = g.SentBytes()
						sent[rank] -= before
						if rank == 0 {
							union = s.Counts(0).Union
						}
						return nil
					})
					p := hosts[len(hosts)-1] + 1
					of := make([]int64, p)
					for rank, n := range sent {
						of[hosts[rank]] += n
					}
					for h, n := range of {
						bound := 1.1 * float64(p-1) / float64(p) * float64(len(own[h])+union) * float64(4+4*table.Width)
						if float64(n) > bound {
							t.Errorf("host %d sends %d bytes for %d own rows and %d in all: %.2f times what it may", h, n, len(own[h]), union, float64(n)/bound)
						}
						if h == 0 {
							t.Logf("%d bytes for %d own rows and %d in all: %.2f of what it may", n, len(own[h]), union, float64(n)/bound)
						}
					}
				})
			}
		}
	}
}
