package cache

import (
	"encoding/binary"

	"ringtrain/input"
	"ringtrain/input/internal/blockcache"
	"ringtrain/ring/exitcode"
)

// Append adds records in their order.
func (s *Set) Append(b *input.Batch, records ...int) error {
	return s.records.Each(records, func(at blockcache.Location, held *block) error {
		err := held.append(b, at.Place, s.facts.Features)
		if err != nil && exitcode.Of(err) != exitcode.BadData {
			return s.flaw(at.Block, err)
		}
		return err
	})
}

// touch reads a byte of each cache line of records of a block. The places of the ids come first:
// the processor cannot fetch ids before it has them.
func touch(b *block, places []blockcache.Location) (read byte) {
	for _, at := range places {
		read |= b.labels[4*at.Place]
		if b.fields > 0 {
			read |= b.starts[4*at.Place*b.fields]
		}
	}
	if b.fields == 0 {
		return read
	}
	for _, at := range places {
		starts := b.starts[4*at.Place*b.fields:]
		first, last := binary.LittleEndian.Uint32(starts), binary.LittleEndian.Uint32(starts[4*b.fields:])
		read |= touchLines(b.ids[4*int(first) : 4*int(last)])
		if !b.ones {
			read |= touchLines(b.weights[4*int(first) : 4*int(last)])
		}
	}
	return read
}

func touchLines(p []byte) (read byte) {
	const cacheLine = 64
	for ; len(p) > 0; p = p[min(cacheLine, len(p)):] {
		read |= p[0]
	}
	return read
}
