package input

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
)

// view has the records of one part of a data set, in their order.
type view struct {
	Dataset
	parts  *Parts
	in     Part
	groups *Blocks // records of the part in each group of groupRecords records of the data set
	blocks *Blocks // those in each block of the data set; nil if it has none
	idle   sync.Pool

	counted func() error // divides the records when they are counted
}

// groupRecords is the number of records between two counts of a view, by which a record is found.
const groupRecords = 8 * wordBits

// View returns the records of one part of d, all of which are counted. It closes d. Append names the records by their
// numbers in d.
func (p *Parts) View(d Dataset, in Part) Dataset {
	v := &view{Dataset: d, in: in}
	v.set(p)
	return v
}

// set sets the parts of the records.
func (v *view) set(p *Parts) {
	v.parts = p
	counts := make([]uint16, 0, p.records/groupRecords+1)
	for at := 0; at < p.records; at += groupRecords {
		counts = append(counts, uint16(p.count(v.in, at, min(at+groupRecords, p.records))))
	}
	v.groups = NewBlocks(counts)
	if all := v.Dataset.Facts().Blocks; all != nil {
		counts := make([]uint16, all.Len())
		first := 0
		for i := range counts {
			last := first + all.Count(i)
			counts[i] = uint16(p.count(v.in, first, last))
			first = last
		}
		v.blocks = NewBlocks(counts)
	}
}

// Facts are those of the data set, but for the records.
func (v *view) Facts() Facts {
	f := v.Dataset.Facts()
	f.Records, f.Blocks, f.Counts, f.Parts = v.groups.Records(), v.blocks, nil, nil
	line := v.in.String()
	if f.Counting == nil {
		line = fmt.Sprintf("%s %d", line, f.Records)
	} else {
		f.Counting = dividing{f.Counting, v.counted}
	}
	f.Manifest = append(slices.Clone(f.Manifest), line)
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
