package ring

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// Rows travel in blocks; PROTOCOL.md has the picture. A block is rows of one table, with
// ids as gaps of as many bytes as the widest of them needs. A message is the blocks of
// one table after the other, and a payload is whole blocks.
const (
	blockHeadBytes = 4
	maxBlockRows   = 1024 // so that few wide gaps widen few others
	blockRowsMask  = 1<<16 - 1
	blockGapShift  = 16      // bits 16–18: bytes of a gap, 0 to 4
	blockLast      = 1 << 31 // no more rows of this table
)

// rowPayload is how long a payload with rows may be: short, so that the receiver adds
// one while the next is on its way, but with room for a row of each table.
func rowPayload(c Config, width int) int {
	return max(min(c.frameBytes(), eagerBytes), blockHeadBytes+4+4*width)
}

// A rowWriter makes the payloads of a message. While it makes one, another goroutine may
// send those before.
type rowWriter struct {
	bytes []byte // all payloads, one after the other
	from  int    // where the one begins that is being made
	most  int    // bytes of a payload
	push  func() // called for each payload; nil: nobody is told

	mu       sync.Mutex
	payloads [][]byte
}

func (w *rowWriter) reset(most int) {
	w.bytes, w.from, w.most, w.payloads = w.bytes[:0], 0, most, w.payloads[:0]
}

// payload returns the i-th.
func (w *rowWriter) payload(i int) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.payloads[i]
}

// room is how many bytes the payload that is being made may still have.
func (w *rowWriter) room() int { return w.most - len(w.bytes) + w.from }

// cut ends a payload, if it has any bytes.
func (w *rowWriter) cut() {
	if w.from == len(w.bytes) {
		return
	}
	w.mu.Lock()
	w.payloads = append(w.payloads, w.bytes[w.from:])
	w.mu.Unlock()
	w.from = len(w.bytes)
	if w.push != nil {
		w.push()
	}
}

// table appends rows of a table, ids from next on, and returns what may follow them.
// last is set if no more of its rows follow in the message.
func (w *rowWriter) table(r rowRun, next uint64, width int, last bool) uint64 {
	for len(r.ids) > 0 || last {
		n, gap := w.fits(r.ids, next, width)
		if n == 0 && len(r.ids) > 0 || w.room() < blockHeadBytes {
			w.cut()
			continue
		}
		head := uint32(n) | uint32(gap)<<blockGapShift
		if n == len(r.ids) && last {
			head |= blockLast
			last = false
		}
		w.bytes = binary.LittleEndian.AppendUint32(w.bytes, head)
		w.bytes = appendGaps(w.bytes, r.ids[:n], next, gap)
		w.bytes = append(w.bytes, bytesOf(r.values[:n*width])...)
		if n > 0 {
			next = uint64(r.ids[n-1]) + 1
			r = r.cut(n, len(r.ids), width)
		}
	}
	return next
}

// fits returns how many rows the next block has, from ids on, and the bytes of their gaps.
func (w *rowWriter) fits(ids []uint32, next uint64, width int) (n, gap int) {
	room := w.room() - blockHeadBytes
	n = min(len(ids), maxBlockRows, max(room, 0)/(4*width))
	widest := uint32(0)
	for _, id := range ids[:n] {
		widest |= id - uint32(next)
		next = uint64(id) + 1
	}
	for gap = 0; uint64(widest)>>(8*gap) > 0; gap++ {
	}
	return min(n, max(room, 0)/(4*width+gap)), gap
}

// appendGaps appends the gap before each id, the first one from next on, in as many bytes.
func appendGaps(dst []byte, ids []uint32, next uint64, gap int) []byte {
	from := uint32(next)
	switch gap {
	case 0:
	case 1:
		for _, id := range ids {
			dst = append(dst, byte(id-from))
			from = id + 1
		}
	case 2:
		for _, id := range ids {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(id-from))
			from = id + 1
		}
	default:
		for _, id := range ids {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], id-from)
			dst = append(dst, b[:gap]...)
			from = id + 1
		}
	}
	return dst
}

// A rowReader reads the blocks of a message. It trusts nothing: an id that it gives is
// above the one before and in the range of its table.
type rowReader struct {
	ranges []rowRange // by table: where ids must lie
	tables []Table
	wanted []bool // by table: whether the message has it
	table  int    // of the next block; len(tables) after the message
	next   uint64 // the lowest id that it may have
}

// begin readies d for a message.
func (d *rowReader) begin() {
	d.table = -1
	d.advance()
}

// advance goes to the next table of the message.
func (d *rowReader) advance() {
	d.table++
	for d.table < len(d.tables) && !d.wanted[d.table] {
		d.table++
	}
	if d.table < len(d.tables) {
		d.next = d.ranges[d.table].lo
	}
}

// done tells whether the message has ended.
func (d *rowReader) done() bool { return d.table == len(d.tables) }

// block reads the first block of payload into dst, which becomes as long as that, and
// returns the number of its table, whether that has no more rows, and the rest of payload.
func (d *rowReader) block(dst *rowRun, payload []byte) (table int, last bool, rest []byte, err error) {
	if d.done() {
		return 0, false, nil, fmt.Errorf("%w: %d bytes after the last row", ErrCorruptFrame, len(payload))
	}
	if len(payload) < blockHeadBytes {
		return 0, false, nil, fmt.Errorf("%w: table %d: block of %d bytes, want %d or more", ErrCorruptFrame, d.table, len(payload), blockHeadBytes)
	}
	table = d.table
	t, head := d.tables[table], binary.LittleEndian.Uint32(payload)
	n, gap := int(head&blockRowsMask), int(head>>blockGapShift&7)
	last = head&blockLast != 0
	if n > maxBlockRows || gap > 4 || head&^(blockRowsMask|7<<blockGapShift|blockLast) != 0 || n == 0 && !last {
		return 0, false, nil, fmt.Errorf("%w: table %d: block begins with %#x", ErrCorruptFrame, table, head)
	}
	payload = payload[blockHeadBytes:]
	if size := n * (gap + 4*t.Width); size > len(payload) {
		return 0, false, nil, fmt.Errorf("%w: table %d: %d rows in %d bytes, want %d", ErrCorruptFrame, table, n, len(payload), size)
	}
	dst.fit(n, t.Width)
	next := readGaps(dst.ids, payload, d.next, gap)
	if hi := d.ranges[table].hi; next > hi {
		return 0, false, nil, fmt.Errorf("%w: table %d: id is %d, want less than %d", ErrCorruptFrame, table, next-1, hi)
	}
	d.next = next
	payload = payload[n*gap:]
	copy(bytesOf(dst.values), payload)
	if last {
		d.advance()
	}
	return table, last, payload[4*n*t.Width:], nil
}

// readGaps reads ids, the first one from next on, and returns what may follow them. An
// id that is none shows by that: sums of gaps only grow.
func readGaps(ids []uint32, src []byte, next uint64, gap int) uint64 {
	switch gap {
	case 0:
		for i := range ids {
			ids[i] = uint32(next)
			next++
		}
	case 1:
		for i, g := range src[:len(ids)] {
			next += uint64(g)
			ids[i] = uint32(next)
			next++
		}
	case 2:
		src = src[:2*len(ids)]
		for i := range ids {
			next += uint64(binary.LittleEndian.Uint16(src[2*i:]))
			ids[i] = uint32(next)
			next++
		}
	default:
		for i := range ids {
			var b [4]byte
			copy(b[:gap], src[i*gap:])
			next += uint64(binary.LittleEndian.Uint32(b[:]))
			ids[i] = uint32(next)
			next++
		}
	}
	return next
}
