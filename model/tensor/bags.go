package tensor

import "math/bits"

// Bags are the sparse inputs of a batch: for each example and each field a bag of
// (id, weight) pairs. An id may occur more than once in a bag.
//
// A reader adds pairs and ends bags; the ids in the order of the pairs are then in Slot.
// Index replaces these by places in IDs, the distinct ids of the whole batch. It runs ahead
// of the step, so that the step touches each row of a table once.
//
//	bag (example e, field f) = pairs Start[e·Fields+f] to Start[e·Fields+f+1]
//	pair k                   = (IDs[Slot[k]], Weights[k])
type Bags struct {
	Fields  int      // bags of an example; 0: the batch has none
	Start   []int32  // len: bags + 1, or 0 before the first bag
	Slot    []uint32 // of each pair: its place in IDs; before Index, its id
	Weights []float32
	IDs     []uint32 // distinct, ascending; empty before Index

	words       []idWord // memory of Index
	keys, other []uint64
}

// Reset empties b for examples of the given number of fields and keeps its memory.
func (b *Bags) Reset(fields int) {
	b.Fields = fields
	b.Start = append(b.Start[:0], 0)
	b.Slot, b.Weights, b.IDs = b.Slot[:0], b.Weights[:0], b.IDs[:0]
}

// Add puts a pair into the bag that is being filled.
func (b *Bags) Add(id uint32, weight float32) {
	b.Slot = append(b.Slot, id)
	b.Weights = append(b.Weights, weight)
}

// End ends the bag that is being filled. The next Add begins the next bag.
func (b *Bags) End() { b.Start = append(b.Start, int32(len(b.Slot))) }

// Examples returns the number of examples of which all bags are ended.
func (b *Bags) Examples() int {
	if b.Fields == 0 || len(b.Start) == 0 {
		return 0
	}
	return (len(b.Start) - 1) / b.Fields
}

// Bag returns the pairs [first, last) of a field of an example.
func (b *Bags) Bag(example, field int) (first, last int32) {
	i := example*b.Fields + field
	return b.Start[i], b.Start[i+1]
}

// Part returns the examples [from, to) of b, after Index, as a view: IDs are those of all.
func (b *Bags) Part(from, to int) Bags {
	if b.Fields == 0 {
		return Bags{}
	}
	start := b.Start[from*b.Fields : to*b.Fields+1]
	return Bags{Fields: b.Fields, Start: start, Slot: b.Slot, Weights: b.Weights, IDs: b.IDs}
}

// Digit of the radix sort of indexSorted: histograms of 2,048 counts stay in the first cache.
const (
	digitBits = 11
	digits    = 1 << digitBits
)

// Index finds the distinct ids and replaces each pair's id by its place among them. It may be
// called once after the last pair. It allocates nothing once its memory has grown. The result
// depends on nothing but the pairs.
func (b *Bags) Index() {
	var highest uint32
	for _, id := range b.Slot {
		highest = max(highest, id)
	}
	if words := int(highest/64) + 1; words <= wordsPerPair*len(b.Slot) {
		b.indexBits(words)
	} else {
		b.indexSorted(highest)
	}
}

// wordsPerPair bounds the words of indexBits for each pair. Beyond it, going through the
// empty words takes longer than sorting; see BenchmarkBagsIndex.
const wordsPerPair = 1

// idWord is 64 consecutive ids.
type idWord struct {
	bits   uint64 // of the ids that pairs have
	before uint32 // distinct ids below
}

// indexBits sets a bit for each id. The place of an id is the number of bits below its own.
func (b *Bags) indexBits(n int) {
	if cap(b.words) < n {
		b.words = make([]idWord, n)
	}
	words := b.words[:n]
	clear(words)
	for _, id := range b.Slot {
		words[id/64].bits |= 1 << (id % 64)
	}
	ids := b.IDs[:0]
	for i := range words {
		w := &words[i]
		w.before = uint32(len(ids))
		for set := w.bits; set != 0; set &= set - 1 {
			ids = append(ids, uint32(64*i+bits.TrailingZeros64(set)))
		}
	}
	b.IDs = ids
	for k, id := range b.Slot {
		w := &words[id/64]
		b.Slot[k] = w.before + uint32(bits.OnesCount64(w.bits&(1<<(id%64)-1)))
	}
}

// indexSorted sorts (id, pair) by the digits of the ids, least first; the sort is stable.
func (b *Bags) indexSorted(highest uint32) {
	n := len(b.Slot)
	if cap(b.keys) < n {
		b.keys, b.other = make([]uint64, n), make([]uint64, n)
	}
	keys, other := b.keys[:n], b.other[:n]
	for k, id := range b.Slot {
		keys[k] = uint64(id)<<32 | uint64(k)
	}
	for shift := 0; shift < bits.Len32(highest); shift += digitBits {
		sortDigit(other, keys, 32+shift)
		keys, other = other, keys
	}
	b.IDs = b.IDs[:0]
	for _, key := range keys {
		id := uint32(key >> 32)
		if last := len(b.IDs) - 1; last < 0 || b.IDs[last] != id {
			b.IDs = append(b.IDs, id)
		}
		b.Slot[uint32(key)] = uint32(len(b.IDs) - 1)
	}
}

// sortDigit writes src into dst by ascending digit at shift, equal ones in their order.
func sortDigit(dst, src []uint64, shift int) {
	var place [digits]uint32
	for _, key := range src {
		place[key>>shift&(digits-1)]++
	}
	sum := uint32(0)
	for d, count := range place {
		place[d], sum = sum, sum+count
	}
	for _, key := range src {
		d := key >> shift & (digits - 1)
		dst[place[d]] = key
		place[d]++
	}
}

// Rows are rows of a table: row k of Values belongs to IDs[k]. As a gradient they are the rows
// that a batch touched, and all others are zero.
type Rows struct {
	IDs    []uint32  // distinct, ascending
	Values []float32 // [len(IDs), Width], row-major
	Width  int
}

// Row returns the values of row k of r, a view.
func (r Rows) Row(k int) []float32 { return r.Values[k*r.Width : (k+1)*r.Width] }
