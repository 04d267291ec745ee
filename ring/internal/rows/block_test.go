package rows

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// table is the shape of a table under test.
type table struct {
	rows  uint32
	width int
}

// messageOf encodes rows of tables as a message with payloads of at most limit bytes.
func messageOf(limit int, tables []table, all []Run) *Writer {
	w := new(Writer)
	w.Reset(limit)
	for i, t := range tables {
		w.Write(all[i], 0, t.width, true, func() {})
	}
	w.Flush(func() {})
	return w
}

// readerOf returns a Reader of a message with all tables.
func readerOf(tables []table) *Reader {
	var widths []int
	for _, t := range tables {
		widths = append(widths, t.width)
	}
	d := NewReader(widths)
	for i, t := range tables {
		d.Ranges[i], d.Wanted[i] = Range{0, uint64(t.rows)}, true
	}
	d.Begin()
	return &d
}

// runOf returns n random rows whose ids have a mean distance of gap.
func runOf(n int, gap uint32, width int) Run {
	r, x := rand.New(rand.NewPCG(uint64(n), uint64(gap))), Make(n, width)
	id := uint32(0)
	for i := range x.IDs {
		id += r.Uint32N(2*gap - 1)
		x.IDs[i] = id
		id++
	}
	for i := range x.Values {
		x.Values[i] = float32(r.NormFloat64())
	}
	return x
}

// TestBlocks verifies that a Reader returns the rows that a Writer encoded, that payloads keep
// their limit, and that the bytes of an id follow from the gaps.
func TestBlocks(t *testing.T) {
	tables := []table{{1 << 31, 1}, {1 << 31, 9}, {1 << 31, 60}, {1 << 31, 2}}
	for _, gap := range []uint32{1, 13, 300, 70_000, 20_000_000} {
		for _, most := range []int{400, 1024, 65536} {
			var all []Run
			for i, n := range []int{5000, 90, 0, 100} {
				n = min(n, 1<<30/int(gap))
				all = append(all, runOf(n, gap, tables[i].width))
			}
			w, d := messageOf(most, tables, all), readerOf(tables)
			var got [4]Buffer
			var block Run
			for k := range w.payloads {
				payload := w.Payload(k)
				if len(payload) > most || len(payload) == 0 {
					t.Fatalf("gap=%d: payload of %d bytes, want 1 to %d", gap, len(payload), most)
				}
				for len(payload) > 0 {
					table, _, rest, err := d.Block(&block, payload)
					if err != nil {
						t.Fatalf("gap=%d most=%d: %v", gap, most, err)
					}
					got[table].Append(block, tables[table].width)
					payload = rest
				}
			}
			if !d.Done() {
				t.Fatalf("gap=%d: the message has not ended", gap)
			}
			for i, x := range all {
				y := got[i].Rows(tables[i].width)
				if !slices.Equal(x.IDs, y.IDs) || !slices.Equal(x.Values, y.Values) {
					t.Fatalf("gap=%d most=%d: table %d differs", gap, most, i)
				}
			}
		}
	}
	all := []Run{runOf(50_000, 13, 1)}
	if n := len(messageOf(65536, tables[:1], all).bytes); n > 50_000*5+50_000/10 {
		t.Errorf("%d bytes of 50,000 rows that are 13 apart, want 5 each and little more", n)
	}
}

// FuzzBlock verifies that no payload makes the Reader panic, allocate memory that the payload
// does not fill, or return ids that do not ascend or are not below the number of rows. It also
// verifies that the Reader takes what a Writer encodes from the rows read.
func FuzzBlock(f *testing.F) {
	tables := []table{{1000, 1}, {1 << 31, 3}}
	for _, gap := range []uint32{1, 3, 300} {
		w := messageOf(2048, tables, []Run{runOf(min(300, int(1000/(2*gap))), gap, 1), runOf(100, gap*1000, 3)})
		for k := range w.payloads {
			f.Add(w.Payload(k))
		}
	}
	f.Add(binary.LittleEndian.AppendUint32(nil, blockLast|4<<blockGapShift|1))
	f.Fuzz(func(t *testing.T, payload []byte) {
		d, got, long := readerOf(tables), make([]Buffer, len(tables)), len(payload)
		var block Run
		for len(payload) > 0 {
			table, _, rest, err := d.Block(&block, payload)
			if err != nil {
				return
			}
			if len(rest) >= len(payload) || 4*len(block.Values) > long || len(block.Values) != len(block.IDs)*tables[table].width {
				t.Fatalf("%d bytes of %d left, %d ids, %d values", len(rest), len(payload), len(block.IDs), len(block.Values))
			}
			got[table].Append(block, tables[table].width)
			payload = rest
		}
		var all []Run
		for i, table := range tables {
			x := got[i].Rows(table.width)
			if at := x.FirstInvalid(table.rows); at >= 0 {
				t.Fatalf("table %d: id %d is %d", i, at, x.IDs[at])
			}
			all = append(all, x)
		}
		if !d.Done() {
			return
		}
		w, again := messageOf(1<<20, tables, all), readerOf(tables)
		for rest := w.bytes; len(rest) > 0; {
			var err error
			if _, _, rest, err = again.Block(&block, rest); err != nil {
				t.Fatal(err)
			}
		}
	})
}
