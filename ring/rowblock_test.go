package ring

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// messageOf writes rows of tables as a message, with payloads of so many bytes at most.
func messageOf(most int, tables []Table, all []rowRun) *rowWriter {
	w := new(rowWriter)
	w.reset(most)
	for i, t := range tables {
		w.table(all[i], 0, t.Width, true)
	}
	w.cut()
	return w
}

// readerOf is a reader of such messages.
func readerOf(tables []Table) *rowReader {
	d := &rowReader{tables: tables}
	for _, t := range tables {
		d.ranges = append(d.ranges, rowRange{0, uint64(t.Rows)})
		d.wanted = append(d.wanted, true)
	}
	d.begin()
	return d
}

// runOf returns n rows whose ids are gap apart on average.
func runOf(n int, gap uint32, width int) rowRun {
	r, x := rand.New(rand.NewPCG(uint64(n), uint64(gap))), newRowRun(n, width)
	id := uint32(0)
	for i := range x.ids {
		id += r.Uint32N(2*gap - 1)
		x.ids[i] = id
		id++
	}
	for i := range x.values {
		x.values[i] = float32(r.NormFloat64())
	}
	return x
}

// TestRowBlocks fails if what is read is not what was written, if a payload is longer than it
// may be, or if ids take more bytes than the gaps between them need.
func TestRowBlocks(t *testing.T) {
	tables := []Table{{1 << 31, 1}, {1 << 31, 9}, {1 << 31, 60}, {1 << 31, 2}}
	for _, gap := range []uint32{1, 13, 300, 70_000, 20_000_000} {
		for _, most := range []int{400, 1024, 65536} {
			var all []rowRun
			for i, n := range []int{5000, 90, 0, 100} {
				n = min(n, 1<<30/int(gap))
				all = append(all, runOf(n, gap, tables[i].Width))
			}
			w, d := messageOf(most, tables, all), readerOf(tables)
			var got [4]rowSink
			var block rowRun
			for k := range w.payloads {
				payload := w.payload(k)
				if len(payload) > most || len(payload) == 0 {
					t.Fatalf("gap=%d: payload of %d bytes, want 1 to %d", gap, len(payload), most)
				}
				for len(payload) > 0 {
					table, _, rest, err := d.block(&block, payload)
					if err != nil {
						t.Fatalf("gap=%d most=%d: %v", gap, most, err)
					}
					got[table].append(block, tables[table].Width)
					payload = rest
				}
			}
			if !d.done() {
				t.Fatalf("gap=%d: the message has not ended", gap)
			}
			for i, x := range all {
				y := got[i].rows(tables[i].Width)
				if !slices.Equal(x.ids, y.ids) || !slices.Equal(x.values, y.values) {
					t.Fatalf("gap=%d most=%d: table %d differs", gap, most, i)
				}
			}
		}
	}
	all := []rowRun{runOf(50_000, 13, 1)}
	if n := len(messageOf(65536, tables[:1], all).bytes); n > 50_000*5+50_000/10 {
		t.Errorf("%d bytes of 50,000 rows that are 13 apart, want 5 each and little more", n)
	}
}

// FuzzRowBlock checks that no bytes make the reader panic, claim memory that they do not fill,
// or give ids that do not ascend or are no row; and that it takes each payload that is
// written again from what it read.
func FuzzRowBlock(f *testing.F) {
	tables := []Table{{1000, 1}, {1 << 31, 3}}
	for _, gap := range []uint32{1, 3, 300} {
		w := messageOf(2048, tables, []rowRun{runOf(min(300, int(1000/(2*gap))), gap, 1), runOf(100, gap*1000, 3)})
		for k := range w.payloads {
			f.Add(w.payload(k))
		}
	}
	f.Add(binary.LittleEndian.AppendUint32(nil, blockLast|4<<blockGapShift|1))
	f.Fuzz(func(t *testing.T, payload []byte) {
		d, got, long := readerOf(tables), make([]rowSink, len(tables)), len(payload)
		var block rowRun
		for len(payload) > 0 {
			table, _, rest, err := d.block(&block, payload)
			if err != nil {
				if !errors.Is(err, ErrCorruptFrame) {
					t.Errorf("error %v, want ErrCorruptFrame", err)
				}
				return
			}
			if len(rest) >= len(payload) || 4*len(block.values) > long || len(block.values) != len(block.ids)*tables[table].Width {
				t.Fatalf("%d bytes of %d left, %d ids, %d values", len(rest), len(payload), len(block.ids), len(block.values))
			}
			got[table].append(block, tables[table].Width)
			payload = rest
		}
		var all []rowRun
		for i, table := range tables {
			x := got[i].rows(table.Width)
			if at := x.disorder(table.Rows); at >= 0 {
				t.Fatalf("table %d: id %d is %d", i, at, x.ids[at])
			}
			all = append(all, x)
		}
		if !d.done() {
			return
		}
		w, again := messageOf(1<<20, tables, all), readerOf(tables)
		for rest := w.bytes; len(rest) > 0; {
			var err error
			if _, _, rest, err = again.block(&block, rest); err != nil {
				t.Fatal(err)
			}
		}
	})
}
