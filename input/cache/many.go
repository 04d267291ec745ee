package cache

import (
	"ringtrain/input"
	"ringtrain/input/internal/shelf"
	"ringtrain/ring/exitcode"
)

// AppendAll adds records in their order.
func (s *Set) AppendAll(b *input.Batch, records []int) error {
	return s.records.Each(records, func(at shelf.Place, held *block) error {
		err := held.append(b, at.Place, s.meta.Features)
		if err != nil && exitcode.Of(err) != exitcode.BadData {
			return s.flaw(at.Block, err)
		}
		return err
	})
}

// touch reads a byte of each part of record k.
func touch(b *block, k int) byte {
	touched := b.labels[4*k]
	if b.fields > 0 {
		starts := b.starts[4*k*b.fields:]
		if at := 4 * int(uint32(starts[0])|uint32(starts[1])<<8|uint32(starts[2])<<16|uint32(starts[3])<<24); at < len(b.ids) {
			touched |= b.ids[at]
			if at+64 < len(b.ids) {
				touched |= b.ids[at+64]
			}
		}
	}
	return touched
}
