package rows

import (
	"encoding/binary"
	"fmt"
	"sync"

	"ringtrain/ring/internal/vec"
)

// Rows travel in blocks; ring/PROTOCOL.md has the picture. A block has rows of one table. It
// stores each id as the gap to the id before it, and all gaps of a block in the same number
// of bytes. A message lists the blocks of one table after the other. A payload has whole
// blocks.
const (
	blockHeadBytes = 4
	blockRowsMask  = 1<<16 - 1
	blockGapShift  = 16      // bits 16–18: bytes of a gap, 0 to 4
	blockLast      = 1 << 31 // no more rows of this table

	// MaxBlockRows bounds the rows of a block: a wide gap widens only the gaps of its block.
	MaxBlockRows = 1024
)

// MinPayload returns the bytes of a block with one row, the least that a payload must be
// able to hold.
func MinPayload(width int) int { return blockHeadBytes + 4 + 4*width }

// Writer encodes rows as the payloads of a message. Another goroutine may read the payloads
// that are complete while the Writer makes the next one.
type Writer struct {
	bytes []byte // all payloads, one after the other
	start int    // of the payload that is being made
	limit int    // bytes of a payload

	mu       sync.Mutex
	payloads [][]byte
}

// Reset empties w for a message with payloads of at most limit bytes.
func (w *Writer) Reset(limit int) {
	w.bytes, w.start, w.limit, w.payloads = w.bytes[:0], 0, limit, w.payloads[:0]
}

// Bytes returns the message so far.
func (w *Writer) Bytes() []byte { return w.bytes }

// Payload returns the i-th payload.
func (w *Writer) Payload(i int) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.payloads[i]
}

// room returns the bytes that the current payload can still take.
func (w *Writer) room() int { return w.limit - len(w.bytes) + w.start }

// Flush completes the current payload unless it is empty, and calls complete for it.
func (w *Writer) Flush(complete func()) {
	if w.start == len(w.bytes) {
		return
	}
	w.mu.Lock()
	w.payloads = append(w.payloads, w.bytes[w.start:])
	w.mu.Unlock()
	w.start = len(w.bytes)
	complete()
}

// Write appends rows of a table. Their ids are at least next. It returns the lowest id that
// may follow. last means that the message has no more rows of the table. Write calls complete for
// each complete payload.
func (w *Writer) Write(r Run, next uint64, width int, last bool, complete func()) uint64 {
	for len(r.IDs) > 0 || last {
		n, gap := w.fits(r.IDs, next, width)
		if n == 0 && len(r.IDs) > 0 || w.room() < blockHeadBytes {
			w.Flush(complete)
			continue
		}
		head := uint32(n) | uint32(gap)<<blockGapShift
		if n == len(r.IDs) && last {
			head |= blockLast
			last = false
		}
		w.bytes = binary.LittleEndian.AppendUint32(w.bytes, head)
		w.bytes = appendGaps(w.bytes, r.IDs[:n], next, gap)
		w.bytes = append(w.bytes, vec.Bytes(r.Values[:n*width])...)
		if n > 0 {
			next = uint64(r.IDs[n-1]) + 1
			r = r.Cut(n, len(r.IDs), width)
		}
	}
	return next
}

// fits returns the number of rows of the next block and the bytes of each of their gaps.
func (w *Writer) fits(ids []uint32, next uint64, width int) (n, gap int) {
	room := w.room() - blockHeadBytes
	n = min(len(ids), MaxBlockRows, max(room, 0)/(4*width))
	widest := uint32(0)
	for _, id := range ids[:n] {
		widest |= id - uint32(next)
		next = uint64(id) + 1
	}
	for gap = 0; uint64(widest)>>(8*gap) > 0; gap++ {
	}
	return min(n, max(room, 0)/(4*width+gap)), gap
}

// appendGaps appends the gap before each id in the given number of bytes. The gap of the
// first id counts from next.
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

// Reader decodes the blocks of a message. It does not trust the peer: each id that it
// returns is above the id before it and lies in the range of its table.
type Reader struct {
	Ranges []Range // by table: the ids that the message may have
	Wanted []bool  // by table: whether the message has it
	widths []int   // by table
	table  int     // table of the next block; len(widths) after the message
	next   uint64  // lowest id that the next block may have
}

// NewReader returns a Reader for tables of these widths. The caller sets Ranges and Wanted
// before each message.
func NewReader(widths []int) Reader {
	return Reader{Ranges: make([]Range, len(widths)), Wanted: make([]bool, len(widths)), widths: widths}
}

// Begin prepares r for a message.
func (r *Reader) Begin() {
	r.table = -1
	r.nextTable()
}

// nextTable goes to the next table of the message.
func (r *Reader) nextTable() {
	r.table++
	for r.table < len(r.widths) && !r.Wanted[r.table] {
		r.table++
	}
	if r.table < len(r.widths) {
		r.next = r.Ranges[r.table].Lo
	}
}

// Done reports whether the message has ended.
func (r *Reader) Done() bool { return r.table == len(r.widths) }

// Table returns the number of the table that the next block belongs to.
func (r *Reader) Table() int { return r.table }

// Block decodes the first block of payload into dst, whose length it sets. It returns the
// number of the table, whether the message has no more rows of the table, and the rest of
// payload. An error describes a corrupt payload.
func (r *Reader) Block(dst *Run, payload []byte) (table int, last bool, rest []byte, err error) {
	if r.Done() {
		return 0, false, nil, fmt.Errorf("%d bytes after the last row", len(payload))
	}
	if len(payload) < blockHeadBytes {
		return 0, false, nil, fmt.Errorf("table %d: block of %d bytes, want %d or more", r.table, len(payload), blockHeadBytes)
	}
	table = r.table
	width, head := r.widths[table], binary.LittleEndian.Uint32(payload)
	n, gap := int(head&blockRowsMask), int(head>>blockGapShift&7)
	last = head&blockLast != 0
	if n > MaxBlockRows || gap > 4 || head&^(blockRowsMask|7<<blockGapShift|blockLast) != 0 || n == 0 && !last {
		return 0, false, nil, fmt.Errorf("table %d: block begins with %#x", table, head)
	}
	payload = payload[blockHeadBytes:]
	if size := n * (gap + 4*width); size > len(payload) {
		return 0, false, nil, fmt.Errorf("table %d: %d rows in %d bytes, want %d", table, n, len(payload), size)
	}
	dst.resize(n, width)
	next := readGaps(dst.IDs, payload, r.next, gap)
	if hi := r.Ranges[table].Hi; next > hi {
		return 0, false, nil, fmt.Errorf("table %d: id is %d, want less than %d", table, next-1, hi)
	}
	r.next = next
	payload = payload[n*gap:]
	copy(vec.Bytes(dst.Values), payload)
	if last {
		r.nextTable()
	}
	return table, last, payload[4*n*width:], nil
}

// readGaps decodes ids and returns the lowest id that may follow. The gap of the first id
// counts from next. The result exceeds the range of the table if any id does: sums of gaps
// only grow.
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
