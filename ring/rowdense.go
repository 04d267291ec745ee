package ring

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A rowDense sums rows of a range of a table as a buffer with all of its rows, and
// gathers which rows there are.
type rowDense struct {
	buf     []float32
	touched []byte // a bit for each row, in whole words
	all     Gathered
}

// sum appends the sum of all workers' own rows of a range to k. It is two operations.
func (d *rowDense) sum(ctx context.Context, w *wire, t Table, ids rowRange, own rowRun, k *rowSink) error {
	d.fill(t, ids, own)
	if err := d.reduce(ctx, w); err != nil {
		return err
	}
	if err := w.allGather(ctx, d.touched, &d.all); err != nil {
		return err
	}
	for rank := range w.members.Size() {
		theirs := d.all.At(rank)
		if len(theirs) != len(d.touched) {
			worker := w.members.Workers[rank]
			err := withCode(fmt.Errorf("%w: %d bytes of bits, want %d", ErrCorruptFrame, len(theirs), len(d.touched)))
			return w.g.end(&PeerError{Op: opRows.String(), Seq: w.g.seq - 1, Rank: worker.Rank, Host: worker.Host, Addr: worker.Addr, Err: err})
		}
		for i, b := range theirs {
			d.touched[i] |= b
		}
	}
	d.extract(t, ids, k)
	return nil
}

// reduce sums the buffer over the workers of w.
func (d *rowDense) reduce(ctx context.Context, w *wire) error {
	if err := w.begin(ctx, opAllReduce, len(d.buf)); err != nil {
		return err
	}
	defer w.finish()
	return w.allReduce(ctx, Reduction{Buf: d.buf}, nil)
}

// fill lays own rows out densely.
func (d *rowDense) fill(t Table, ids rowRange, own rowRun) {
	n := int(ids.hi - ids.lo)
	d.buf, d.touched = growFloats(d.buf, n*t.Width), grow(d.touched, (n+63)/64*8)
	clear(d.buf)
	clear(d.touched)
	for i, id := range own.ids {
		at := int(uint64(id) - ids.lo)
		d.touched[at/8] |= 1 << (at % 8)
		copy(d.buf[at*t.Width:(at+1)*t.Width], own.values[i*t.Width:])
	}
}

// extract appends the rows that some worker has.
func (d *rowDense) extract(t Table, ids rowRange, k *rowSink) {
	rows, words := 0, d.touched
	d.mask(int(ids.hi - ids.lo))
	for at := 0; at < len(words); at += 8 {
		rows += bits.OnesCount64(binary.LittleEndian.Uint64(words[at:]))
	}
	k.more(rows, t.Width)
	for at := 0; at < len(words); at += 8 {
		for word := binary.LittleEndian.Uint64(words[at:]); word != 0; word &= word - 1 {
			row := 8*at + bits.TrailingZeros64(word)
			k.room.ids[k.n] = uint32(ids.lo) + uint32(row)
			copy(k.room.values[k.n*t.Width:(k.n+1)*t.Width], d.buf[row*t.Width:])
			k.n++
		}
	}
}

// mask clears the bits behind the last of n rows, which a peer may have set.
func (d *rowDense) mask(n int) {
	for at := n; at < 8*len(d.touched); at++ {
		d.touched[at/8] &^= 1 << (at % 8)
	}
}
