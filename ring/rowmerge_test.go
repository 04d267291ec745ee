package ring

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestMergeRows compares merges with a row by row sum in order of the runs, bit for bit: of few
// runs and many, of ids that are near and far. If it failed, what a sum is would depend on
// the ids beside it.
func TestMergeRows(t *testing.T) {
	for _, sources := range []int{1, 2, 3, 5, 9} {
		for _, width := range []int{1, 2, 9, 70} {
			for _, gap := range []uint32{1, 2, 40, 3000, 1 << 20} {
				var m merger
				m.init(sources)
				type row struct {
					id     uint32
					values []float32
				}
				want, total := map[uint32]row{}, 0
				for round := range 2 { // windows are used again
					clear(want)
					total = 0
					for i := range m.sources {
						r := runOf((i%3)*(700+i)+round, gap, width)
						for k := range r.values {
							switch k % 50 {
							case 7:
								r.values[k] = float32(math.Copysign(0, -1))
							case 8:
								r.values[k] = float32(math.Inf(1))
							}
						}
						m.sources[i] = r
						total += len(r.ids)
						for k, id := range r.ids {
							x, ok := want[id]
							if !ok {
								x = row{id, slices.Clone(r.values[k*width : (k+1)*width])}
							} else {
								for w, v := range r.values[k*width : (k+1)*width] {
									x.values[w] += v
								}
							}
							want[id] = x
						}
					}
					dst := newRowRun(total, width)
					got := dst.cut(0, m.merge(dst, width), width)
					if len(got.ids) != len(want) || got.disorder(math.MaxUint32) >= 0 {
						t.Fatalf("sources=%d width=%d gap=%d: %d rows, want %d ascending ones", sources, width, gap, len(got.ids), len(want))
					}
					for k, id := range got.ids {
						for w, v := range got.values[k*width : (k+1)*width] {
							if x := want[id].values[w]; math.Float32bits(v) != math.Float32bits(x) {
								t.Fatalf("sources=%d width=%d gap=%d: id %d is %x, want %x", sources, width, gap, id, math.Float32bits(v), math.Float32bits(x))
							}
						}
					}
				}
			}
		}
	}
}

// TestMergeDisorder fails if ids that do not ascend lead a merge out of its memory, or have it
// go on for ever.
func TestMergeDisorder(t *testing.T) {
	for _, sources := range []int{2, 3} {
		for _, width := range []int{1, 3} {
			var m merger
			m.init(sources)
			total := 0
			for i := range m.sources {
				m.sources[i] = runOf(500, 3, width)
				slices.Reverse(m.sources[i].ids[100*i:])
				m.sources[i].ids[7] = math.MaxUint32
				total += 500
			}
			if n := m.merge(newRowRun(total, width), width); n > total {
				t.Errorf("sources=%d width=%d: %d rows of %d", sources, width, n, total)
			}
		}
	}
}

// BenchmarkMergeRows measures the sum of runs of 78,000 rows of a million, as one worker of two
// has half of it.
func BenchmarkMergeRows(b *testing.B) {
	for _, sources := range []int{2, 4} {
		for _, width := range []int{1, 9} {
			for _, gap := range []uint32{1, 2, 13, 640, 20000} {
				b.Run(fmt.Sprintf("sources=%d/width=%d/gap=%d", sources, width, gap), func(b *testing.B) {
					const n = 39_000
					var m merger
					m.init(sources)
					for i := range m.sources {
						m.sources[i] = runOf(n+i, gap, width)
					}
					dst := newRowRun(sources*(n+sources), width)
					rows := 0
					for b.Loop() {
						rows = m.merge(dst, width)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(sources*n), "ns/row")
					b.ReportMetric(float64(rows), "union")
				})
			}
		}
	}
}
