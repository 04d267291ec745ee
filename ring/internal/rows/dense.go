package rows

import (
	"encoding/binary"
	"math/bits"

	"ringtrain/ring/internal/vec"
)

// Dense holds all rows of a range of ids, absent ones as zeros, and one bit for each row that
// is present.
type Dense struct {
	Values  []float32
	Present []byte // in words of 64 bits
}

// Fill lays out the rows of r, whose ids lie in the range ids.
func (d *Dense) Fill(r Run, ids Range, width int) {
	n := int(ids.Hi - ids.Lo)
	d.Values, d.Present = vec.Resize(d.Values, n*width), vec.Resize(d.Present, (n+63)/64*8)
	clear(d.Values)
	clear(d.Present)
	for i, id := range r.IDs {
		at := int(uint64(id) - ids.Lo)
		d.Present[at/8] |= 1 << (at % 8)
		copy(d.Values[at*width:(at+1)*width], r.Values[i*width:])
	}
}

// AppendTo appends the rows that are present to b. ids is the range that Fill had.
func (d *Dense) AppendTo(b *Buffer, ids Range, width int) {
	d.clearFrom(int(ids.Hi - ids.Lo))
	n, words := 0, d.Present
	for at := 0; at < len(words); at += 8 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(words[at:]))
	}
	b.grow(n, width)
	for at := 0; at < len(words); at += 8 {
		for word := binary.LittleEndian.Uint64(words[at:]); word != 0; word &= word - 1 {
			row := 8*at + bits.TrailingZeros64(word)
			b.memory.IDs[b.n] = uint32(ids.Lo) + uint32(row)
			copy(b.memory.Values[b.n*width:(b.n+1)*width], d.Values[row*width:])
			b.n++
		}
	}
}

// clearFrom clears the bits from row n on. A faulty peer may have set them.
func (d *Dense) clearFrom(n int) {
	for at := n; at < 8*len(d.Present); at++ {
		d.Present[at/8] &^= 1 << (at % 8)
	}
}
