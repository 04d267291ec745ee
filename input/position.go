package input

import (
	"fmt"

	"ringtrain/ring/exitcode"
)

// span returns the range [first, last) of the global batch at p in its epoch, and the
// position after it. The last batch of an epoch is short.
func (p Position) span(batch, records int) (first, last int, after Position) {
	first = int(p.Offset)
	last = first + min(batch, records-first)
	after = Position{Epoch: p.Epoch, Offset: int64(last)}
	return first, last, after.wrap(records)
}

// wrap replaces the end of an epoch by the start of the next one.
func (p Position) wrap(records int) Position {
	if p.Offset == int64(records) {
		return Position{Epoch: p.Epoch + 1}
	}
	return p
}

// check returns an error if the position is outside the data.
func (p Position) check(records int) error {
	if p.Epoch < 0 || p.Offset < 0 || p.Offset > int64(records) {
		return exitcode.With(exitcode.BadData, fmt.Errorf(
			"input: position is epoch %d, record %d, want a record in [0, %d]: were the data exchanged?", p.Epoch, p.Offset, records))
	}
	return nil
}

// Consumed returns how many records the global batches before p have, in all epochs.
func (p Position) Consumed(records int) int64 { return p.Epoch*int64(records) + p.Offset }

// LastEpoch returns the number of the epoch, from 1, of the global batch before p. At the start it
// is 1.
func (p Position) LastEpoch() int64 {
	if p.Offset == 0 {
		return max(p.Epoch, 1)
	}
	return p.Epoch + 1
}
