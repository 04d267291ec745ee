package tensor

import "math/bits"

// Bags are the sparse inputs of a batch: for each example and each field a bag of (id,
// weight) pairs. An id may occur more than once in a bag.
//
// A reader adds pairs and ends bags; Slot then has the ids in the order of the pairs.
// Index replaces the ids by their positions in IDs, the distinct ids of the whole batch.
// It runs ahead of the step, so that the step accesses each row of a table once.
//
//	bag (example e, field f) = pairs Start[e·Fields+f] to Start[e·Fields+f+1]
//	pair k                   = (IDs[Slot[k]], Weights[k])
type Bags struct {
	Fields  int      // bags per example; 0 if the batch has none
	Start   []int32  // len: bags + 1, or 0 before the first bag
	Slot    []uint32 // by pair: the position in IDs; before Index, the id
	Weights []float32
	IDs     []uint32 // distinct, ascending; empty before Index

	words       []idWord // memory of Index
	keys, other []uint64
}

// Reset removes all pairs of b, sets the number of fields and keeps the memory.
func (b *Bags) Reset(fields int) {
	b.Fields = fields
	b.Start = append(b.Start[:0], 0)
	b.Slot, b.Weights, b.IDs = b.Slot[:0], b.Weights[:0], b.IDs[:0]
}

// Add adds a pair to the current bag.
func (b *Bags) Add(id uint32, weight float32) {
	b.Slot = append(b.Slot, id)
	b.Weights = append(b.Weights, weight)
}

// End ends the current bag. The next Add starts the next bag.
func (b *Bags) End() { b.Start = append(b.Start, int32(len(b.Slot))) }

// Examples returns the number of examples with all bags ended.
func (b *Bags) Examples() int {
	if b.Fields == 0 || len(b.Start) == 0 {
		return 0
	}
	return (len(b.Start) - 1) / b.Fields
}

// Part returns the examples [from, to) of b, after Index, as a view. IDs are those of
// all examples.
func (b *Bags) Part(from, to int) Bags {
	if b.Fields == 0 {
		return Bags{}
	}
	start := b.Start[from*b.Fields : to*b.Fields+1]
	return Bags{Fields: b.Fields, Start: start, Slot: b.Slot, Weights: b.Weights, IDs: b.IDs}
}

// Digits of the radix sort of indexSorted: a histogram of 2,048 counts fits into the L1
// cache.
const (
	digitBits = 11
	digits    = 1 << digitBits
)

// Index determines the distinct ids and replaces each pair's id by its position among
// them. Call it once after the last pair. It allocates nothing after its memory has
// grown. The result depends only on the pairs.
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

// wordsPerPair is the maximum number of words of indexBits per pair. Beyond it the scan
// of empty words is slower than sorting; see BenchmarkBagsIndex.
const wordsPerPair = 1

// idWord is 64 consecutive ids.
type idWord struct {
	bits   uint64 // set for the ids of pairs
	before uint32 // number of lower distinct ids
}

// indexBits sets a bit for each id. The position of an id is the number of bits below
// its own.
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

// indexSorted sorts (id, pair) by the digits of the ids, least significant first. The
// sort is stable.
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

// sortDigit stably sorts src by the digit at shift into dst.
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

// Rows are rows of a table: row k of Values belongs to IDs[k]. A gradient in this form
// has the rows of a batch; all other rows are zero.
type Rows struct {
	IDs    []uint32  // distinct, ascending
	Values []float32 // [len(IDs), Width], row-major
	Width  int
}
