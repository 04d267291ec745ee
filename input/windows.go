package input

import (
	"cmp"
	"slices"
)

// windows is the order of an epoch of records in more blocks than one window has:
//
//	blocks     0 1 2 3 4 5 6 7 8 …                 the order of the files
//	               │ permutation of (seed, epoch, number of blocks)
//	           7 2 9 0 │ 5 3 8 1 │ 6 4             windows of WindowBlocks blocks
//	               │ permutation of (seed, epoch, window, number of records) in each
//	places     the records of window 0, of window 1, …
//	               │ cut into global batches
//	batch      the records of some places, by block
//
// The places are a function of seed, epoch and counts only. A window's blocks fit into memory,
// and each is needed in one stretch of the epoch alone. Within a batch the records are arranged by
// block, so that a rank, which has a run of the batch, needs some of the window's blocks only.
type windows struct {
	blocks *Blocks
	seed   uint64
	epoch  int64
	chosen order // of the blocks
	starts []int // place of the first record of each window, and past the last

	// The window that the last place was in.
	window  int
	within  order
	sums    []int // records of the window before each of them, and of all
	firsts  []int // number of the first record of each
	entered bool

	chosenPlaces, sorted []int // memory of arrange
	arranged             []int
	depths               []depth
}

// depth is a record with the place of its block in the window, in parts of 2³² of the window.
type depth struct {
	part   uint64
	record int
}

// arrangeRecords is how many consecutive records of a global batch are arranged together. A rank
// computes the places of them all, so large batches over many ranks are cut.
const arrangeRecords = 4096

// blockKey makes the order of blocks another one than that of as many records.
const blockKey = 0x626c6f636b73 // "blocks"

// newWindows returns the order of an epoch of blocks of records.
func newWindows(seed uint64, epoch int64, s *Blocks) *windows {
	w := &windows{blocks: s, seed: seed, epoch: epoch, chosen: newOrder(seed^blockKey, epoch, s.Len()), starts: []int{0}}
	sum := 0
	for i := range s.Len() {
		sum += s.Count(w.chosen.at(i))
		if (i+1)%WindowBlocks == 0 || i+1 == s.Len() {
			w.starts = append(w.starts, sum)
		}
	}
	return w
}

// enter prepares the window that place i is in.
func (w *windows) enter(i int) {
	k, _ := slices.BinarySearch(w.starts, i+1)
	w.window, w.entered = k-1, true
	records := w.starts[k] - w.starts[k-1]
	// An empty window has no place, so records > 0.
	w.within = newOrder(mix(w.seed^blockKey)+uint64(k), w.epoch, records)
	w.sums, w.firsts = append(w.sums[:0], 0), w.firsts[:0]
	for b := (k - 1) * WindowBlocks; b < min(k*WindowBlocks, w.blocks.Len()); b++ {
		block := w.chosen.at(b)
		w.firsts = append(w.firsts, w.blocks.First(block))
		w.sums = append(w.sums, w.sums[len(w.sums)-1]+w.blocks.Count(block))
	}
}

// share appends the records [from, to) of a global batch to dst, which has the places
// [first, last).
func (w *windows) share(dst []int, first, last, from, to int) []int {
	for at := from / arrangeRecords * arrangeRecords; at < to; at += arrangeRecords {
		w.arranged = w.arranged[:0]
		w.arrange(first+at, min(first+at+arrangeRecords, last))
		dst = append(dst, w.arranged[max(from-at, 0):min(to-at, len(w.arranged))]...)
	}
	return dst
}

// arrange appends the records of the places [from, to) to w.arranged, by block. Where they lie in
// several windows they are arranged by depth: a rank then needs the same part of each.
func (w *windows) arrange(from, to int) {
	w.depths = w.depths[:0]
	for at := from; at < to; {
		if !w.entered || at < w.starts[w.window] || at >= w.starts[w.window+1] {
			w.enter(at)
		}
		first, end := len(w.arranged), min(to, w.starts[w.window+1])
		w.arrangeWithin(at, end)
		if at > from || end < to {
			records := uint64(w.sums[len(w.sums)-1])
			for i, place := range w.chosenPlaces {
				w.depths = append(w.depths, depth{uint64(place) << 32 / records, w.arranged[first+i]})
			}
		}
		at = end
	}
	slices.SortStableFunc(w.depths, func(a, b depth) int { return cmp.Compare(a.part, b.part) })
	for i, d := range w.depths {
		w.arranged[i] = d.record
	}
}

// arrangeWithin appends the records of the places [from, to) of the window that was entered last.
func (w *windows) arrangeWithin(from, to int) {
	start := w.starts[w.window]
	w.chosenPlaces = w.within.append(w.chosenPlaces[:0], from-start, to-start)
	w.chosenPlaces, w.sorted = sortPlaces(w.chosenPlaces, w.sorted)
	k := 0 // sums[k] <= place < sums[k+1]
	for _, place := range w.chosenPlaces {
		for place >= w.sums[k+1] {
			k++
		}
		w.arranged = append(w.arranged, w.firsts[k]+place-w.sums[k])
	}
}

// sortPlaces sorts places, which are not negative, by their digits, least first. It returns them
// and other memory.
func sortPlaces(places, scratch []int) (sorted, other []int) {
	const digitBits, digits = 11, 1 << 11
	var highest int
	for _, p := range places {
		highest |= p
	}
	scratch = slices.Grow(scratch[:0], len(places))[:len(places)]
	for shift := 0; highest>>shift > 0; shift += digitBits {
		var next [digits]int32
		for _, p := range places {
			next[p>>shift&(digits-1)]++
		}
		sum := int32(0)
		for d, n := range next {
			next[d], sum = sum, sum+n
		}
		for _, p := range places {
			at := &next[p>>shift&(digits-1)]
			scratch[*at] = p
			*at++
		}
		places, scratch = scratch, places
	}
	return places, scratch
}

// sequence is the order in which an epoch goes through the records of a data set.
type sequence struct {
	flat    order
	windows *windows // nil: flat
}

// newSequence returns the order of an epoch: a function of seed, epoch and the number of
// records, or the numbers of records of the blocks where there is more than one window.
func newSequence(f *Facts, shuffle bool, seed uint64, epoch int64) sequence {
	if !shuffle || f.Sequential {
		return sequence{}
	}
	if f.Blocks != nil && f.Blocks.Len() > WindowBlocks {
		return sequence{windows: newWindows(seed, epoch, f.Blocks)}
	}
	return sequence{flat: newOrder(seed, epoch, f.Records)}
}

// share appends the records [from, to) of a global batch to dst, which has the places
// [first, last).
func (s *sequence) share(dst []int, first, last, from, to int) []int {
	if s.windows != nil {
		return s.windows.share(dst, first, last, from, to)
	}
	return s.flat.append(dst, first+from, first+to)
}
