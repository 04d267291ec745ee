package text

import (
	"ringtrain/input"
	"ringtrain/input/internal/blockcache"
)

// Append adds records in their order.
func (s *Set) Append(b *input.Batch, records ...int) error {
	return s.records.Each(records, func(at blockcache.Location, block *lines) error {
		if err := s.parse(b, block, at.Place); err != nil {
			return s.lineError(at, block, err)
		}
		return nil
	})
}

// touch reads a byte of each cache line of lines of a block.
func touch(l *lines, places []blockcache.Location) (read byte) {
	const cacheLine = 64
	for _, at := range places {
		span := l.spans[at.Place]
		for p := l.data[span.from:span.to]; ; p = p[cacheLine:] {
			read |= p[0]
			if len(p) <= cacheLine {
				break
			}
		}
	}
	return read
}
