package input

import (
	"math/bits"
	"sync/atomic"
)

// Parts has the part of each record of a data set: one bit a record for each part that is held out. A record without
// a bit trains.
type Parts struct {
	records int
	held    [parts][]uint64 // of Validation and Test, if records are held out for them
	cells   *cells          // that say the parts, nil if the numbers of the records do
	without atomic.Int64    // records without a cell
}

// wordBits is the number of records of a word of bits.
const wordBits = 64

// NewParts returns the parts of n records, all of which train, with memory for those that are held out.
func NewParts(n int, held ...Part) *Parts {
	p := &Parts{records: n}
	for _, in := range held {
		p.held[in] = make([]uint64, (n+wordBits-1)/wordBits)
	}
	return p
}

// PutCell puts a record into the part of its cell, which is empty if the record has none. Goroutines may call it side
// by side.
func (p *Parts) PutCell(record int, cell []byte) {
	if len(cell) == 0 {
		p.without.Add(1)
		return
	}
	if in := p.cells.part(cell); in != Training {
		p.Put(record, in)
	}
}

// Put puts a record that trains into a part that is held out. Goroutines may call it side by side.
func (p *Parts) Put(record int, in Part) {
	atomic.OrUint64(&p.held[in][record/wordBits], 1<<(record%wordBits))
}

// Without returns how many records have no cell that says their part. They train.
func (p *Parts) Without() int64 {
	if p == nil {
		return 0
	}
	return p.without.Load()
}

// Trains reports whether a record is one of training, as all are without a split.
func (p *Parts) Trains(record int) bool { return p == nil || p.Has(record, Training) }

// Has reports whether a record is in a part.
func (p *Parts) Has(record int, in Part) bool {
	return p.word(record/wordBits, in)>>(record%wordBits)&1 == 1
}

// word returns the bits of the records of a word that are in a part.
func (p *Parts) word(at int, in Part) (word uint64) {
	validation, test := p.held[Validation], p.held[Test]
	if in != Test && validation != nil {
		word = validation[at]
	}
	if in != Validation && test != nil {
		word |= test[at]
	}
	if in == Training {
		word = ^word
	}
	return word
}

// count returns how many of the records [first, last) are in a part.
func (p *Parts) count(in Part, first, last int) (n int) {
	for at := first; at < last; {
		end := min((at/wordBits+1)*wordBits, last)
		word := p.word(at/wordBits, in) >> (at % wordBits)
		if end-at < wordBits {
			word &= 1<<(end-at) - 1
		}
		n += bits.OnesCount64(word)
		at = end
	}
	return n
}
