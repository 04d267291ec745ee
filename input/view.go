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
	if place := f.Place; place != nil {
		f.Place = func(record int) string { return place(v.record(record)) }
	}
	return f
}

// Append adds records of the part.
func (v *view) Append(b *Batch, records ...int) error {
	of, ok := v.idle.Get().(*[]int)
	if !ok {
		of = new([]int)
	}
	defer v.idle.Put(of)
	*of = v.appendRecords((*of)[:0], records)
	return v.Dataset.Append(b, *of...)
}

// appendRecords appends the numbers in the data set of records of the part. Records of a batch often follow the one
// before, or are in its group.
func (v *view) appendRecords(dst []int, records []int) []int {
	group, first, n := 0, 0, 0
	last, behind := -2, uint64(0) // the record before, and the bits behind its own in its word
	for _, i := range records {
		switch {
		case i == last+1 && behind != 0:
			dst = append(dst, dst[len(dst)-1]/wordBits*wordBits+bits.TrailingZeros64(behind))
			behind &= behind - 1
			last = i
			continue
		case i < first || i >= first+n:
			group, first = v.groups.Find(i)
			first = i - first
			n = v.groups.Count(group)
		}
		record := v.within(group, i-first)
		dst = append(dst, record)
		last, behind = i, v.parts.word(record/wordBits, v.in)&^(2<<(record%wordBits)-1)
	}
	return dst
}

// record returns the number in the data set of record i of the part.
func (v *view) record(i int) int {
	group, place := v.groups.Find(i)
	return v.within(group, place)
}

// NumberOf returns the number that a record of d has among all records of its files.
func NumberOf(d Dataset, record int) int {
	if v, is := d.(*view); is {
		return v.record(record)
	}
	return record
}

// within returns the number in the data set of a record of the part by its place in a group.
func (v *view) within(group, place int) int {
	at := group * (groupRecords / wordBits)
	word := v.parts.word(at, v.in)
	for n := bits.OnesCount64(word); place >= n; n = bits.OnesCount64(word) {
		place -= n
		at++
		word = v.parts.word(at, v.in)
	}
	return at*wordBits + bitAt(word, place)
}

// bitAt returns the place of a bit that is 1 of a word, by how many are before it: a half at a time.
func bitAt(word uint64, before int) (at int) {
	for half := wordBits / 2; half > 0; half /= 2 {
		if n := bits.OnesCount64(word & (1<<half - 1)); before >= n {
			before -= n
			word >>= half
			at += half
		}
	}
	return at
}
