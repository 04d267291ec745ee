package rows

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestMerge verifies merges bit for bit against a sum row by row in the order of the runs, for
// few and many runs and for ids that are near and far.
func TestMerge(t *testing.T) {
	for _, sources := range []int{1, 2, 3, 5, 9} {
		for _, width := range []int{1, 2, 9, 70} {
			for _, gap := range []uint32{1, 2, 40, 3000, 1 << 20} {
				var m Merger
				m.Init(sources)
				type row struct {
					id     uint32
					values []float32
				}
				want, total := map[uint32]row{}, 0
				for round := range 2 { // the second round reuses the window
					clear(want)
					total = 0
					for i := range m.Sources {
						r := runOf((i%3)*(700+i)+round, gap, width)
						for k := range r.Values {
							switch k % 50 {
							case 7:
								r.Values[k] = float32(math.Copysign(0, -1))
							case 8:
								r.Values[k] = float32(math.Inf(1))
							}
						}
						m.Sources[i] = r
						total += len(r.IDs)
						for k, id := range r.IDs {
							x, ok := want[id]
							if !ok {
								x = row{id, slices.Clone(r.Values[k*width : (k+1)*width])}
							} else {
								for w, v := range r.Values[k*width : (k+1)*width] {
									x.values[w] += v
								}
							}
							want[id] = x
						}
					}
					dst := Make(total, width)
					got := dst.Cut(0, m.merge(dst, width), width)
					if len(got.IDs) != len(want) || got.FirstInvalid(math.MaxUint32) >= 0 {
						t.Fatalf("sources=%d width=%d gap=%d: %d rows, want %d ascending ones", sources, width, gap, len(got.IDs), len(want))
					}
					for k, id := range got.IDs {
						for w, v := range got.Values[k*width : (k+1)*width] {
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

// TestMergeDisorder verifies that a merge ends and stays within dst if ids do not ascend.
func TestMergeDisorder(t *testing.T) {
	for _, sources := range []int{2, 3} {
		for _, width := range []int{1, 3} {
			var m Merger
			m.Init(sources)
			total := 0
			for i := range m.Sources {
				m.Sources[i] = runOf(500, 3, width)
				slices.Reverse(m.Sources[i].IDs[100*i:])
				m.Sources[i].IDs[7] = math.MaxUint32
				total += 500
			}
			if n := m.merge(Make(total, width), width); n > total {
				t.Errorf("sources=%d width=%d: %d rows of %d", sources, width, n, total)
			}
		}
	}
}

// BenchmarkMerge measures merges of runs of 39,000 rows, for several distances of ids. It
// compares windows and heads: see windowGap.
func BenchmarkMerge(b *testing.B) {
	for _, sources := range []int{2, 4} {
		for _, width := range []int{1, 9} {
			for _, gap := range []uint32{1, 2, 13, 640, 20000} {
				b.Run(fmt.Sprintf("sources=%d/width=%d/gap=%d", sources, width, gap), func(b *testing.B) {
					const n = 39_000
					var m Merger
					m.Init(sources)
					for i := range m.Sources {
						m.Sources[i] = runOf(n+i, gap, width)
					}
					dst := Make(sources*(n+sources), width)
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
