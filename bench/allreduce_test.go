package bench

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// run measures on p ranks over links in memory and returns the rows of rank 0.
func run(t *testing.T, p int, c AllReduceConfig, faults ...ringtest.Fault) []Row {
	t.Helper()
	c.BatchBytes = 1 << 20 // all of it is filled
	links := memlink.Ring(p)
	for _, f := range faults {
		links[0] = ringtest.WithFault(links[0], f)
	}
	rows := make([][]Row, p)
	ringtest.RunOver(t, links, ring.DefaultConfig(), func(g *ring.Group) error {
		rank := g.Membership().Rank
		_, err := AllReduce(t.Context(), g, c, func(r Row) error {
			rows[rank] = append(rows[rank], r)
			return nil
		})
		return err
	})
	for rank := range rows {
		if !slices.Equal(rows[rank], rows[0]) {
			t.Fatalf("rank %d has the rows\n%+v\nwant those of rank 0:\n%+v", rank, rows[rank], rows[0])
		}
	}
	return rows[0]
}

// TestAllReduceIsRight verifies that the oracle accepts correct sums of every codec. The
// lengths are around the number of ranks, a segment and the oracle's period.
func TestAllReduceIsRight(t *testing.T) {
	for _, c := range codec.All() {
		for _, p := range []int{1, 2, 3, 8} {
			for _, bytes := range []int{4, 4 * (8 + 1), 4 * (1<<16 + 1)} {
				t.Run(fmt.Sprintf("codec=%v/ranks=%d/bytes=%d", c, p, bytes), func(t *testing.T) {
					rows := run(t, p, AllReduceConfig{Sizes: []int{bytes}, Codecs: []codec.Codec{c}, Iterations: 2, Link: "memory"})
					if len(rows) != 1 {
						t.Fatalf("%d rows, want 1", len(rows))
					}
					r := rows[0]
					if r.Wrong != 0 {
						t.Errorf("%d wrong, largest error %g, want none", r.Wrong, r.MaxError)
					}
					if lost := c.Lossy() && p > 1; lost && bytes > 1<<10 && r.MaxError == 0 {
						t.Error("no error at all: the codec was not used, or nothing was compared")
					}
					want := Row{Bytes: bytes, Elements: bytes / 4, Ranks: p, Algorithm: "ring", Codec: c.String(), Link: "memory"}
					if p == 1 {
						want.Codec = "none" // there is no wire
					}
					if got := (Row{Bytes: r.Bytes, Elements: r.Elements, Ranks: r.Ranks, Algorithm: r.Algorithm, Codec: r.Codec, Link: r.Link}); got != want {
						t.Errorf("row of %+v, want of %+v", got, want)
					}
					if r.Time <= 0 || r.P99 < r.Time || r.BusBW != BusBW(r.AlgBW, p) || r.OutOfPlace <= 0 || r.OutOfPlaceBusBW != BusBW(r.OutOfPlaceAlgBW, p) {
						t.Errorf("times and bandwidths do not fit together: %+v", r)
					}
				})
			}
		}
	}
}

// TestSentIsOfSums verifies that a row counts only the bytes of the sums, not those that
// the ranks send between two sums.
func TestSentIsOfSums(t *testing.T) {
	const p, elements = 3, 12
	const frame = ring.FrameHeaderBytes + 4*elements/p
	for _, inPlace := range []bool{false, true} {
		r := run(t, p, AllReduceConfig{Sizes: []int{4 * elements}, Iterations: 1, InPlace: inPlace})[0]
		if want := int64(p * 2 * (p - 1) * frame); r.Sent != want || r.Between != 0 {
			t.Errorf("in place %v: %d bytes are sent, %d between hosts; want %d and 0", inPlace, r.Sent, r.Between, want)
		}
	}
}

// TestFaultIsCounted verifies that a wrong sum is counted, and that rank 0's row
// includes the errors of other ranks.
func TestFaultIsCounted(t *testing.T) {
	const p = 3
	three := []byte{0, 0, 0x40, 0x40} // 3 as a float32, far from any partial sum
	replace := func(op uint64) ringtest.Fault {
		return ringtest.Fault{Op: op, Segment: 0, Kind: ringtest.Corrupt, Change: func(f *ring.Frame) { copy(f.Payload, three) }}
	}
	// Operations 1 and 2 warm up; 0, 3, 5, 8, 9 and 12 are barriers, 4 agrees on
	// how many are timed; 6 and 7 are timed in place, 10 and 11 out of place.
	for _, op := range []uint64{1, 6, 11} {
		t.Run(fmt.Sprintf("operation=%d", op), func(t *testing.T) {
			r := run(t, p, AllReduceConfig{Sizes: []int{48}, Iterations: 2}, replace(op))[0]
			// Rank 0's first frame is a partial sum, so all ranks get it wrong.
			if r.Wrong != p || r.MaxError < 1 || r.MaxError > 5 {
				t.Errorf("%d wrong, largest error %g; want %d elements, one a rank, off by 1 to 5", r.Wrong, r.MaxError, p)
			}
		})
	}
}

// TestSizesFrom verifies the list of sizes: complete, finite and in whole elements.
func TestSizesFrom(t *testing.T) {
	tests := []struct {
		least, most, times int
		want               []int
	}{
		{8, 64, 2, []int{8, 16, 32, 64}},
		{8, 63, 2, []int{8, 16, 32}},
		{0, 4, 2, []int{4}},
		{5, 16, 2, []int{4, 8, 16}},
		{10, 200, 4, []int{8, 32, 128}},
		{1 << 20, 1 << 20, 2, []int{1 << 20}},
		{maxBytes / 2, maxBytes, 2, []int{maxBytes / 2, maxBytes}},
		{8, 4, 2, nil},
		{0, 3, 2, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("min=%d/max=%d/times=%d", tt.least, tt.most, tt.times), func(t *testing.T) {
			if got := SizesFrom(tt.least, tt.most, tt.times); !slices.Equal(got, tt.want) {
				t.Errorf("sizes are %v, want %v", got, tt.want)
			}
		})
	}
}

// TestIterations verifies the number of operations: enough for a 99th percentile of
// small sizes, few enough for large sizes.
func TestIterations(t *testing.T) {
	for bytes, want := range map[int]int{4: 1000, 512 << 10: 1000, 8 << 20: 64, 128 << 20: 20} {
		if got := (AllReduceConfig{}).iterations(bytes, time.Hour); got != want {
			t.Errorf("%d bytes: %d operations, want %d", bytes, got, want)
		}
	}
	if got := (AllReduceConfig{Iterations: 3, Budget: time.Hour}).iterations(4, 0); got != 3 {
		t.Errorf("%d operations, want the 3 that were asked for", got)
	}
	for one, want := range map[time.Duration]int{0: budgetMost, time.Millisecond: 50, time.Second: 3} {
		if got := (AllReduceConfig{Budget: 100 * time.Millisecond}).iterations(4, one); got != want {
			t.Errorf("%v each, in place and out of place, within 100ms: %d operations, want %d", one, got, want)
		}
	}
}

// TestCheck verifies that Check returns all errors of a config at once, as
// exitcode.Usage.
func TestCheck(t *testing.T) {
	tests := []struct {
		name string
		c    AllReduceConfig
		want string
	}{
		{"config=good", AllReduceConfig{Sizes: []int{8}}, ""},
		{"sizes=largest", AllReduceConfig{Sizes: []int{4, maxBytes}}, ""},
		{"sizes=none", AllReduceConfig{}, "sizes are missing, want one or more"},
		{"sizes=small", AllReduceConfig{Sizes: []int{8, 3}}, "--sizes has 3 bytes, want 4 to 1073741824, in whole float32"},
		{"sizes=cut", AllReduceConfig{Sizes: []int{8, 10}}, "--sizes has 10 bytes, want 4 to 1073741824, in whole float32"},
		{"sizes=large", AllReduceConfig{Sizes: []int{maxBytes + 1}}, "--sizes has 1073741825 bytes, want 4 to 1073741824, in whole float32"},
		{"all=bad", AllReduceConfig{Iterations: -1, Budget: -1, BatchBytes: -1},
			"sizes are missing, want one or more\n--iters is -1, want 0 or more\n" +
				"--budget is -1ns, want 0 or more\n--batch is -1 bytes, want 0 to 1073741824"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.c.Check(); err != nil {
				got = err.Error()
				if code := exitcode.Of(err); code != exitcode.Usage {
					t.Errorf("exit code %d, want %d", code, exitcode.Usage)
				}
			}
			if got != tt.want {
				t.Errorf("error %q, want %q", got, tt.want)
			}
		})
	}
	ringtest.Run(t, 1, ring.DefaultConfig(), func(g *ring.Group) error {
		if _, err := AllReduce(t.Context(), g, AllReduceConfig{}, nil); err == nil {
			t.Error("AllReduce takes a bad config")
		}
		return nil
	})
}

// TestEachStops verifies that AllReduce stops after an error of its callback.
func TestEachStops(t *testing.T) {
	full := errors.New("disk full")
	ringtest.Run(t, 1, ring.DefaultConfig(), func(g *ring.Group) error {
		rows := 0
		_, err := AllReduce(t.Context(), g, AllReduceConfig{Sizes: []int{4, 8}, Iterations: 1}, func(Row) error { rows++; return full })
		if rows != 1 || !errors.Is(err, full) {
			t.Errorf("%d rows, error %v; want 1 and %v", rows, err, full)
		}
		return nil
	})
}

// TestBatchAllocatesNothing verifies that timed operations allocate nothing, so that no
// garbage collection runs.
func TestBatchAllocatesNothing(t *testing.T) {
	ringtest.Run(t, 1, ring.DefaultConfig(), func(g *ring.Group) error {
		m, err := newMeter(t.Context(), g, AllReduceConfig{Sizes: []int{4 << 10}, Codecs: []codec.Codec{codec.None}})
		if err != nil {
			return err
		}
		n := testing.AllocsPerRun(10, func() {
			m.inPlace, m.outOfPlace = m.inPlace[:0], m.outOfPlace[:0]
			err := m.sum(t.Context(), m.oracles[0], 1<<10, batchMost, true)
			if err := errors.Join(err, m.sum(t.Context(), m.oracles[0], 1<<10, batchMost, false)); err != nil {
				t.Error(err)
			}
		})
		if n != 0 {
			t.Errorf("%v allocations a batch, want 0", n)
		}
		return nil
	})
}

// BenchmarkAllReduce measures one all-reduce among ranks of one process. The
// name of each case is key=value, so that benchstat can group by any key:
//
//	go test -run '^$' -bench AllReduce -count 10 ./bench | tee new.txt
//	benchstat -col /codec -filter '.unit:(busbw-B/s)' new.txt
func BenchmarkAllReduce(b *testing.B) {
	for _, c := range codec.All() {
		for _, p := range []int{2, 4} {
			for _, bytes := range []int{64 << 10, 4 << 20} {
				b.Run(fmt.Sprintf("codec=%v/world=%d/bytes=%d", c, p, bytes), func(b *testing.B) {
					b.SetBytes(int64(bytes))
					ringtest.Run(b, p, ring.DefaultConfig(), func(g *ring.Group) error {
						return benchmarkRank(b, g, AllReduceConfig{Sizes: []int{bytes}, Codecs: []codec.Codec{c}})
					})
					b.ReportMetric(BusBW(float64(bytes)*float64(b.N)/b.Elapsed().Seconds(), p), "busbw-B/s")
				})
			}
		}
	}
}

// benchmarkRank sums b.N buffers. It refills the buffers after each batch, because
// repeated sums become infinite, and lossy codecs treat infinities differently. Rank 0
// stops the timer while buffers are filled.
func benchmarkRank(b *testing.B, g *ring.Group, c AllReduceConfig) error {
	m, err := newMeter(b.Context(), g, c)
	if err != nil {
		return err
	}
	timed := g.Membership().Rank == 0
	elements, o := c.Sizes[0]/ElementBytes, m.oracles[0]
	if err := m.sum(b.Context(), o, elements, 1, true); err != nil { // warm-up
		return err
	}
	if timed {
		b.ResetTimer()
	}
	for left := b.N; left > 0; {
		if timed {
			b.StopTimer()
		}
		n := min(left, m.batchLen(elements))
		left -= n
		m.cut(elements, n)
		for _, buf := range m.buffers {
			o.Fill(buf)
		}
		if err := g.Barrier(b.Context()); err != nil {
			return err
		}
		if timed {
			b.StartTimer()
		}
		for _, buf := range m.buffers {
			if err := g.AllReduce(b.Context(), ring.Reduction{Buf: buf, Codec: o.Codec}); err != nil {
				return err
			}
		}
	}
	err = g.Barrier(b.Context())
	if timed {
		b.StopTimer()
	}
	return err
}
