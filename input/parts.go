package input

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
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
func (p *Parts) Without() int64 { return p.without.Load() }

// Trains reports whether a record is one of training, as all are without a split.
func (p *Parts) Trains(record int) bool { return p == nil || p.Has(record, Training) }

// Has reports whether a record is in a part.
func (p *Parts) Has(record int, in Part) bool {
	return p.word(record/wordBits, in)>>(record%wordBits)&1 == 1
}

// word returns the bits of the records of a word that are in a part.
func (p *Parts) word(at int, in Part) (word uint64) {
	if in != Training {
		if p.held[in] != nil {
			word = p.held[in][at]
		}
		return word
	}
	for _, held := range p.held {
		if held != nil {
			word |= held[at]
		}
	}
	return ^word
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

// view has the records of one part of a data set, in their order.
type view struct {
	Dataset
	parts  *Parts
	in     Part
	groups *Blocks // records of the part in each group of groupRecords records of the data set
	blocks *Blocks // those in each block of the data set; nil if it has none
	idle   sync.Pool
}

// groupRecords is the number of records between two counts of a view, by which a record is found.
const groupRecords = 8 * wordBits

// View returns the records of one part of d, all of which are counted. It closes d. Append names the records by their
// numbers in d.
func (p *Parts) View(d Dataset, in Part) Dataset {
	v := &view{Dataset: d, parts: p, in: in}
	counts := make([]uint16, 0, p.records/groupRecords+1)
	for at := 0; at < p.records; at += groupRecords {
		counts = append(counts, uint16(p.count(in, at, min(at+groupRecords, p.records))))
	}
	v.groups = NewBlocks(counts)
	if all := d.Facts().Blocks; all != nil {
		counts := make([]uint16, all.Len())
		first := 0
		for i := range counts {
			last := first + all.Count(i)
			counts[i] = uint16(p.count(in, first, last))
			first = last
		}
		v.blocks = NewBlocks(counts)
	}
	return v
}

// Facts are those of the data set, but for the records.
func (v *view) Facts() Facts {
	f := v.Dataset.Facts()
	f.Records, f.Blocks, f.Counts, f.Parts = v.groups.Records(), v.blocks, nil, nil
	f.Manifest = append(slices.Clone(f.Manifest), fmt.Sprintf("%s %d", v.in, f.Records))
	return f
}

// Append adds records of the part.
func (v *view) Append(b *Batch, records ...int) error {
	of, ok := v.idle.Get().(*[]int)
	if !ok {
		of = new([]int)
	}
	defer v.idle.Put(of)
	*of = (*of)[:0]
	for _, i := range records {
		*of = append(*of, v.record(i))
	}
	return v.Dataset.Append(b, *of...)
}

// record returns the number in the data set of record i of the part.
func (v *view) record(i int) int {
	group, left := v.groups.Find(i)
	word := group * (groupRecords / wordBits)
	for ; ; word++ {
		n := bits.OnesCount64(v.parts.word(word, v.in))
		if left < n {
			break
		}
		left -= n
	}
	w := v.parts.word(word, v.in)
	for ; left > 0; left-- {
		w &= w - 1
	}
	return word*wordBits + bits.TrailingZeros64(w)
}

// Shared returns n times d, which is closed when all of them are.
func Shared(d Dataset, n int) []Dataset {
	left := new(atomic.Int32)
	left.Store(int32(n))
	all := make([]Dataset, n)
	for i := range all {
		all[i] = &shared{Dataset: d, left: left}
	}
	return all
}

type shared struct {
	Dataset
	left *atomic.Int32
}

func (s *shared) Close() error {
	if s.left.Add(-1) > 0 {
		return nil
	}
	return s.Dataset.Close()
}
