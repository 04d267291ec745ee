package bundle

import (
	"encoding/binary"

	"ringtrain/input/maskedcrc"
)

// The index is a table in LevelDB's format, as TensorFlow writes it.
const (
	blockBytes      = 262144 // size at which a block is closed
	restartInterval = 16     // entries of a data block per whole key

	trailerBytes = 5  // type and checksum of a block
	footerBytes  = 48 // two handles, padded, and the magic number
	tableMagic   = 0xdb4775248b80fb57

	blockRaw, blockSnappy = 0, 1
)

// block collects entries. It stores each key without the prefix that the key shares with
// the previous one.
type block struct {
	buf      []byte
	restarts []uint32
	interval int
	entries  int // since the last restart
	last     string
}

func newBlock(interval int) *block { return &block{interval: interval, restarts: []uint32{0}} }

func (b *block) add(key string, value []byte) {
	shared := 0
	if b.entries < b.interval {
		for shared < min(len(key), len(b.last)) && key[shared] == b.last[shared] {
			shared++
		}
	} else {
		b.restarts = append(b.restarts, uint32(len(b.buf)))
		b.entries = 0
	}
	b.buf = binary.AppendUvarint(b.buf, uint64(shared))
	b.buf = binary.AppendUvarint(b.buf, uint64(len(key)-shared))
	b.buf = binary.AppendUvarint(b.buf, uint64(len(value)))
	b.buf = append(b.buf, key[shared:]...)
	b.buf = append(b.buf, value...)
	b.last = key
	b.entries++
}

// size is the length of the finished block.
func (b *block) size() int { return len(b.buf) + 4*len(b.restarts) + 4 }

// appendTo appends the finished block with its trailer and returns its handle.
func (b *block) appendTo(dst []byte) (out, handle []byte) {
	start := len(dst)
	dst = append(dst, b.buf...)
	for _, r := range b.restarts {
		dst = binary.LittleEndian.AppendUint32(dst, r)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b.restarts)))
	handle = binary.AppendUvarint(nil, uint64(start))
	handle = binary.AppendUvarint(handle, uint64(len(dst)-start))
	dst = append(dst, blockRaw)
	return binary.LittleEndian.AppendUint32(dst, maskedcrc.Of(dst[start:])), handle
}

// tableWriter builds a table in memory. Keys must be added in ascending order.
type tableWriter struct {
	out    []byte
	data   *block
	index  *block
	last   string
	handle []byte // of a closed block, not yet in the index
}

func newTableWriter() *tableWriter {
	return &tableWriter{data: newBlock(restartInterval), index: newBlock(1)}
}

func (t *tableWriter) add(key string, value []byte) {
	if t.handle != nil {
		t.index.add(separator(t.last, key), t.handle)
		t.handle = nil
	}
	t.data.add(key, value)
	t.last = key
	if t.data.size() >= blockBytes {
		t.closeBlock()
	}
}

func (t *tableWriter) closeBlock() {
	t.out, t.handle = t.data.appendTo(t.out)
	t.data = newBlock(restartInterval)
}

// finish returns the whole table.
func (t *tableWriter) finish() []byte {
	if len(t.data.buf) > 0 {
		t.closeBlock()
	}
	if t.handle != nil {
		t.index.add(successor(t.last), t.handle)
	}
	out, meta := newBlock(restartInterval).appendTo(t.out)
	out, index := t.index.appendTo(out)
	footer := append(meta, index...)
	footer = append(footer, make([]byte, footerBytes-8-len(footer))...)
	return append(out, binary.LittleEndian.AppendUint64(footer, tableMagic)...)
}

// separator returns a short string s with a ≤ s < b, for a < b.
func separator(a, b string) string {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if a[i] < 0xff && a[i]+1 < b[i] {
			return a[:i] + string([]byte{a[i] + 1})
		}
		return a
	}
	return a
}

// successor returns a short string s with a ≤ s.
func successor(a string) string {
	for i := range len(a) {
		if a[i] != 0xff {
			return a[:i] + string([]byte{a[i] + 1})
		}
	}
	return a
}
