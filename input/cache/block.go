package cache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	headBytes      = 32 // of a block
	badBytes       = 12 // of a bad record, before its message
	flagOnes       = 1  // all weights are 1
	flagImportance = 2
	flagKeys       = 4

	// moreKeysShift is the place in the flags of the number of key columns beyond the first.
	moreKeysShift = 8
	maxMoreKeys   = 1<<(32-moreKeysShift) - 1
)

// fault is a record that is bad.
type fault struct {
	place int
	lost  int // see input.Lost
	text  string
}

// appendBlock encodes the records of b; those of bad are empty there.
func appendBlock(dst []byte, b *input.Batch, bad []fault) []byte {
	le, from := binary.LittleEndian, len(dst)
	x, n := &b.X.Bags, len(b.Y)
	flags, texts, cols := uint32(flagOnes), 0, 0
	for _, w := range x.Weights {
		if w != 1 {
			flags = 0
			break
		}
	}
	if len(b.Importance) > 0 {
		flags |= flagImportance
	}
	if len(b.Keys) > 0 {
		flags |= flagKeys | uint32(b.KeyColumns-1)<<moreKeysShift
	}
	for _, f := range bad {
		texts += len(f.text)
	}
	if b.X.Dense.Rows > 0 {
		cols = b.X.Dense.Cols
	}
	for _, v := range []int{n, len(x.Slot), x.Fields, cols, int(flags), len(bad), texts, 0} {
		dst = le.AppendUint32(dst, uint32(v))
	}
	dst = appendFloats(dst, b.Y)
	if flags&flagImportance != 0 {
		dst = appendFloats(dst, b.Importance)
		for range n - len(b.Importance) {
			dst = le.AppendUint32(dst, math.Float32bits(1))
		}
	}
	dst = appendFloats(dst, b.X.Dense.Data[:n*cols])
	if x.Fields > 0 {
		for _, s := range x.Start {
			dst = le.AppendUint32(dst, uint32(s))
		}
	}
	for _, id := range x.Slot {
		dst = le.AppendUint32(dst, id)
	}
	if flags&flagOnes == 0 {
		dst = appendFloats(dst, x.Weights)
	}
	for _, f := range bad {
		for _, v := range []int{f.place, f.lost, len(f.text)} {
			dst = le.AppendUint32(dst, uint32(v))
		}
	}
	for _, f := range bad {
		dst = append(dst, f.text...)
	}
	if flags&flagKeys != 0 {
		dst = appendKeys(dst, b.Keys, n*b.KeyColumns)
	}
	le.PutUint32(dst[from+headBytes-4:], crc32.Checksum(dst[from:], castagnoli))
	return dst
}

// appendKeys encodes n keys, of which the last may lack.
func appendKeys(dst []byte, keys []string, n int) []byte {
	end := uint32(0)
	for i := range n {
		if i < len(keys) {
			end += uint32(len(keys[i]))
		}
		dst = binary.LittleEndian.AppendUint32(dst, end)
	}
	for _, key := range keys {
		dst = append(dst, key...)
	}
	return dst
}

func appendFloats(dst []byte, values []float32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

// block is a block in memory. Its parts are views of data.
type block struct {
	data []byte

	records, fields, cols         int
	ones                          bool
	labels, importance, dense     []byte
	starts, ids, weights, badHead []byte
	texts                         []byte
	keyEnds, keys                 []byte // nil: the records have no keys
	keyColumns                    int
	largest                       uint32 // id
}

// parse checks data and finds its parts. Whatever the bytes are, the parts have the lengths
// that the numbers of records and pairs ask for, and starts do not leave the pairs. The records
// have the shape, and valid labels.
func (b *block) parse(want int, shape input.RecordShape, labels input.Labels) error {
	le := binary.LittleEndian
	if len(b.data) < headBytes {
		return fmt.Errorf("block has %d bytes, want %d or more", len(b.data), headBytes)
	}
	sum := le.Uint32(b.data[headBytes-4:])
	le.PutUint32(b.data[headBytes-4:], 0)
	if got := crc32.Checksum(b.data, castagnoli); got != sum {
		return fmt.Errorf("crc32c of a block is %#08x, want %#08x", got, sum)
	}
	var head [7]uint64
	for i := range head {
		head[i] = uint64(le.Uint32(b.data[4*i:]))
	}
	n, pairs, fields, cols, flags, bad, texts := head[0], head[1], head[2], head[3], head[4], head[5], head[6]
	if n != uint64(want) || flags&^(flagOnes|flagImportance|flagKeys|maxMoreKeys<<moreKeysShift) != 0 || bad > n || fields > math.MaxUint16 || cols > math.MaxInt32 {
		return fmt.Errorf("block has %d records of %d fields and %d columns, %d bad and flags %#x, want %d records", n, fields, cols, bad, flags, want)
	}
	if got := (input.RecordShape{Cols: int(cols), Fields: int(fields)}); got != shape {
		return fmt.Errorf("block has records of %d columns and %d fields, want %d and %d", got.Cols, got.Fields, shape.Cols, shape.Fields)
	}
	b.records, b.fields, b.cols, b.ones = want, int(fields), int(cols), flags&flagOnes != 0
	lengths := [...]uint64{4 * n, 0, 4 * n * cols, 0, 4 * pairs, 0, badBytes * bad, texts, 0}
	if flags&flagImportance != 0 {
		lengths[1] = 4 * n
	}
	if fields > 0 {
		lengths[3] = 4 * (n*fields + 1)
	}
	if !b.ones {
		lengths[5] = 4 * pairs
	}
	if flags&flagKeys != 0 {
		b.keyColumns = int(flags>>moreKeysShift) + 1
		lengths[8] = 4 * n * uint64(b.keyColumns)
	}
	rest := b.data[headBytes:]
	for i, part := range []*[]byte{&b.labels, &b.importance, &b.dense, &b.starts, &b.ids, &b.weights, &b.badHead, &b.texts, &b.keyEnds} {
		if lengths[i] > uint64(len(rest)) {
			return fmt.Errorf("block of %d bytes ends early", len(b.data))
		}
		*part, rest = rest[:lengths[i]], rest[lengths[i]:]
	}
	b.keys = nil
	if flags&flagKeys != 0 {
		b.keys, rest = rest, nil
		if err := checkEnds(b.keyEnds, "a key ends", len(b.keys)); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("block of %d bytes has %d too many", len(b.data), len(rest))
	}
	b.largest = largestID(b.ids)
	if err := b.checkLabels(labels); err != nil {
		return err
	}
	if err := b.checkImportance(); err != nil {
		return err
	}
	if fields > 0 && le.Uint32(b.starts) != 0 {
		return fmt.Errorf("the first bag begins at %d, want 0", le.Uint32(b.starts))
	}
	return checkEnds(b.starts, "a bag ends", int(pairs))
}

// checkLabels verifies that labels are valid, as the text's reader did: a loss uses a label as an index.
func (b *block) checkLabels(labels input.Labels) error {
	for p := b.labels; len(p) > 0; p = p[4:] {
		if err := labels.Check(float64(math.Float32frombits(binary.LittleEndian.Uint32(p)))); err != nil {
			return err
		}
	}
	return nil
}

// checkImportance verifies that the weights of records are finite and not negative.
func (b *block) checkImportance() error {
	for p := b.importance; len(p) > 0; p = p[4:] {
		if w := float64(math.Float32frombits(binary.LittleEndian.Uint32(p))); !(w >= 0 && w <= math.MaxFloat32) {
			return fmt.Errorf("weight of a record is %v, want a finite number, 0 or more", w)
		}
	}
	return nil
}

// largestID returns the largest of some ids, 0 of none.
func largestID(ids []byte) uint32 {
	le := binary.LittleEndian
	var even, odd uint32
	for ; len(ids) >= 8; ids = ids[8:] {
		pair := le.Uint64(ids)
		even, odd = max(even, uint32(pair)), max(odd, uint32(pair>>32))
	}
	if len(ids) >= 4 {
		even = max(even, le.Uint32(ids))
	}
	return max(even, odd)
}

// checkEnds verifies that the ends of parts follow each other, and that the last is at most.
func checkEnds(ends []byte, what string, most int) error {
	last := 0
	for p := ends; len(p) > 0; p = p[4:] {
		at := int(binary.LittleEndian.Uint32(p))
		if at < last || at > most {
			return fmt.Errorf("%s at %d of %d, and the one before at %d", what, at, most, last)
		}
		last = at
	}
	if last != most {
		return fmt.Errorf("%s at %d of %d, and none behind it", what, last, most)
	}
	return nil
}

// key returns key i of all records.
func (b *block) key(i int) string {
	le, from := binary.LittleEndian, uint32(0)
	if i > 0 {
		from = le.Uint32(b.keyEnds[4*i-4:])
	}
	return string(b.keys[from:le.Uint32(b.keyEnds[4*i:])])
}

// append adds record k to dst. Ids must be below features.
func (b *block) append(dst *input.Batch, k, features int) error {
	le := binary.LittleEndian
	if len(b.badHead) > 0 {
		if err := b.bad(k); err != nil {
			return err
		}
	}
	if b.cols > 0 {
		row := dst.DenseRow(b.cols)
		p := b.dense[4*k*b.cols:][:4*b.cols]
		for i := range row {
			row[i] = math.Float32frombits(le.Uint32(p[4*i:]))
		}
	}
	if b.fields > 0 {
		if err := b.appendBags(dst, k, features); err != nil {
			return err
		}
	}
	dst.Y = append(dst.Y, math.Float32frombits(le.Uint32(b.labels[4*k:])))
	if dst.WantKeys && b.keys != nil {
		for i, keys := 0, dst.AddKeys(b.keyColumns); i < len(keys); i++ {
			keys[i] = b.key(k*b.keyColumns + i)
		}
	}
	if len(b.importance) > 0 {
		dst.SetImportance(math.Float32frombits(le.Uint32(b.importance[4*k:])))
	} else {
		dst.SetImportance(1)
	}
	return nil
}

// appendBags adds the bags of record k.
func (b *block) appendBags(dst *input.Batch, k, features int) error {
	le := binary.LittleEndian
	x := dst.Bags(b.fields)
	starts := b.starts[4*k*b.fields:][:4*(b.fields+1)]
	first, last := le.Uint32(starts), le.Uint32(starts[4*b.fields:])
	n, at := int(last-first), len(x.Slot)
	x.Slot = slices.Grow(x.Slot, n)[:at+n]
	x.Weights = slices.Grow(x.Weights, n)[:at+n]
	ids, slots, weights := b.ids[4*int(first):][:4*n], x.Slot[at:], x.Weights[at:]
	copyIDs(slots, ids)
	if int64(b.largest) >= int64(features) && n > 0 {
		if largest := slices.Max(slots); int64(largest) >= int64(features) {
			return fmt.Errorf("id is %d, want one in [0, %d)", largest, features)
		}
	}
	if b.ones {
		fillOnes(weights)
	} else {
		p := b.weights[4*int(first):][:4*n]
		for i := range weights {
			weights[i] = math.Float32frombits(le.Uint32(p[4*i:]))
		}
	}
	for i := range b.fields {
		x.Start = append(x.Start, int32(at)+int32(le.Uint32(starts[4*i+4:])-first))
	}
	return nil
}

// copyIDs copies ids, two at a time.
func copyIDs(dst []uint32, src []byte) {
	le := binary.LittleEndian
	for ; len(dst) >= 4 && len(src) >= 16; dst, src = dst[4:], src[16:] {
		a, b := le.Uint64(src), le.Uint64(src[8:])
		dst[0], dst[1], dst[2], dst[3] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
	}
	for i := range dst {
		dst[i] = le.Uint32(src[4*i:])
	}
}

// fillOnes sets all weights to 1.
func fillOnes(weights []float32) {
	for ; len(weights) >= 4; weights = weights[4:] {
		weights[0], weights[1], weights[2], weights[3] = 1, 1, 1, 1
	}
	for i := range weights {
		weights[i] = 1
	}
}

// bad returns the error of record k, nil if the record is good.
func (b *block) bad(k int) error {
	le := binary.LittleEndian
	texts := b.texts
	for p := b.badHead; len(p) > 0; p = p[badBytes:] {
		n := min(int(le.Uint32(p[8:])), len(texts))
		if int(le.Uint32(p)) == k {
			return exitcode.With(exitcode.BadData, input.WithLost(int(le.Uint32(p[4:])), errors.New(string(texts[:n]))))
		}
		texts = texts[n:]
	}
	return nil
}
