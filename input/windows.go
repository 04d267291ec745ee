package input

import "slices"

// windows is the order of an epoch of records in more blocks than one window has:
//
//	blocks     0 1 2 3 4 5 6 7 8 …                 the order of the files
//	               │ permutation of (seed, epoch, number of blocks)
//	           7 2 9 0 │ 5 3 8 1 │ 6 4             windows of WindowBlocks blocks
//	               │ permutation of (seed, epoch, window, number of records) in each
//	places     the records of window 0, of window 1, …
//
// It is a function of seed, epoch and counts only. A window's blocks fit into memory, and
// each is needed in one stretch of the epoch alone.
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
}

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

// at returns the record at place i of the epoch. Consecutive places cost no more than those
// of an order.
func (w *windows) at(i int) int {
	if !w.entered || i < w.starts[w.window] || i >= w.starts[w.window+1] {
		w.enter(i)
	}
	place := w.within.at(i - w.starts[w.window])
	k, _ := slices.BinarySearch(w.sums, place+1) // the first sum beyond place
	return w.firsts[k-1] + place - w.sums[k-1]
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

// sequence is the order in which an epoch goes through the records of a data set.
type sequence struct {
	flat    order
	windows *windows // nil: flat
}

// newSequence returns the order of an epoch of d: a function of seed, epoch and the number
// of records, or the numbers of records of the blocks where there is more than one window.
func newSequence(d Dataset, shuffle bool, seed uint64, epoch int64) sequence {
	if s, ok := d.(Sequential); !shuffle || ok && s.Sequential() {
		return sequence{}
	}
	if b, ok := d.(Blocked); ok && b.Blocks() != nil && b.Blocks().Len() > WindowBlocks {
		return sequence{windows: newWindows(seed, epoch, b.Blocks())}
	}
	return sequence{flat: newOrder(seed, epoch, d.Len())}
}

// at returns the record at place i of the epoch.
func (s *sequence) at(i int) int {
	if s.windows != nil {
		return s.windows.at(i)
	}
	return s.flat.at(i)
}
