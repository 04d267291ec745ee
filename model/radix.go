package model

import "slices"

const (
	radixBits = 11 // a histogram of 2,048 counts fits into the L1 cache
	radixSize = 1 << radixBits

	// sortScratch bounds the memory of sortKeys, in keys.
	sortScratch = 1 << 20
)

// sortKeys sorts keys in ascending order. It returns its scratch memory, at most
// sortScratch keys, for reuse.
func sortKeys(keys, scratch []uint32) []uint32 {
	scratch = slices.Grow(scratch[:0], min(len(keys), sortScratch))
	sortFrom(keys, scratch[:cap(scratch)], 32-8)
	return scratch
}

// sortFrom sorts keys that are equal above the byte at shift. If keys are longer than
// scratch may be, sortFrom first orders them by that byte in place (McIlroy, Bostic and
// McIlroy, "Engineering radix sort", 1993).
func sortFrom(keys, scratch []uint32, shift int) {
	if len(keys) <= len(scratch) {
		sortDigits(keys, scratch[:len(keys)])
		return
	}
	var next, last [256]int
	for _, k := range keys {
		last[k>>shift&0xff]++
	}
	sum := 0
	for d, n := range last {
		next[d] = sum
		sum += n
		last[d] = sum
	}
	for d := range next {
		for next[d] < last[d] {
			k := keys[next[d]]
			for to := k >> shift & 0xff; int(to) != d; to = k >> shift & 0xff {
				k, keys[next[to]] = keys[next[to]], k
				next[to]++
			}
			keys[next[d]] = k
			next[d]++
		}
	}
	if shift == 0 {
		return
	}
	first := 0
	for _, end := range last {
		sortFrom(keys[first:end], scratch, shift-8)
		first = end
	}
}

// sortDigits sorts keys by their digits, least significant first. scratch has the length
// of keys.
func sortDigits(keys, scratch []uint32) {
	if len(keys) < radixSize/8 {
		slices.Sort(keys)
		return
	}
	var places [3][radixSize]uint32
	for _, k := range keys {
		places[0][k%radixSize]++
		places[1][k>>radixBits%radixSize]++
		places[2][k>>(2*radixBits)]++
	}
	from, to := keys, scratch
	for digit := range places {
		place, shift := &places[digit], digit*radixBits
		sum := uint32(0)
		for d, n := range place {
			place[d], sum = sum, sum+n
		}
		for _, k := range from {
			at := &place[k>>shift%radixSize]
			to[*at] = k
			*at++
		}
		from, to = to, from
	}
	copy(keys, from) // after an odd number of passes the keys are in scratch
}
