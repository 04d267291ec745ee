package ring

import "ringtrain/ring/internal/vec"

// doubling is recursive doubling: partners exchange their sums so far and both
// add them, those of the lower positions first, so that all ranks get the same bits, even
// of NaNs.
type doubling rounds

func (d *doubling) begin() {}

func (d *doubling) message(_ int, held span) []byte {
	return (*rounds)(d).joined(d.x, held)
}

func (d *doubling) room(_ int, theirs span) []byte {
	return (*rounds)(d).joinedRoom(len(d.x), theirs)
}

func (d *doubling) absorb(_ int, theirs span, got []byte) {
	(*rounds)(d).split(len(d.x), theirs, got)
	in := d.in[:len(d.x)]
	if theirs.lo > d.w.places.me {
		vec.Sum2(d.x, d.x, in)
	} else {
		vec.Sum2(d.x, in, d.x)
	}
}

func (d *doubling) finish() error { return nil }
