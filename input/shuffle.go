package input

import (
	"math"
	"math/bits"
)

// rounds is the number of mixing rounds of an order. With fewer rounds some orders of
// five records are visibly more frequent than others (tested).
const rounds = 6

// order is the order of the records of one epoch: a permutation of [0, n) that is
// computed element by element.
//
// The records are pairs (l, r) in a grid of rows × cols ≥ n. Each round adds a keyed
// hash of r to l and then a keyed hash of l to r: a Feistel network over a grid that
// need not be square. Subtracting the hashes in reverse order restores l and r, so every
// round is a bijection of the grid. If the result is outside [0, n), the rounds are
// repeated until it is inside (cycle walking: Black and Rogaway, "Ciphers with arbitrary
// finite domains", 2002). The grid has fewer than rows surplus cells, so this is rare.
type order struct {
	n, rows, cols uint64 // n = 0: the order of the files
	keys          [2 * rounds]uint64
}

// newOrder returns the order of n records in an epoch. It depends only on its arguments.
func newOrder(seed uint64, epoch int64, n int) order {
	rows := uint64(math.Sqrt(float64(n)))
	for rows*rows < uint64(n) {
		rows++
	}
	o := order{n: uint64(n), rows: rows, cols: (uint64(n) + rows - 1) / rows}
	key := mix(mix(mix(seed)+uint64(epoch)) + uint64(n))
	for i := range o.keys {
		key = mix(key + 0x9e3779b97f4a7c15)
		o.keys[i] = key
	}
	return o
}

// at returns the record at position i of the epoch, for i in [0, n).
func (o *order) at(i int) int {
	if o.n == 0 {
		return i
	}
	x := uint64(i)
	for {
		l, r := x/o.cols, x%o.cols
		for k := 0; k < len(o.keys); k += 2 {
			l = add(l, below(mix(r^o.keys[k]), o.rows), o.rows)
			r = add(r, below(mix(l^o.keys[k+1]), o.cols), o.cols)
		}
		if x = l*o.cols + r; x < o.n {
			return int(x)
		}
	}
}

// append appends the records of the positions [from, to), which must be in [0, n), to
// dst. It interleaves four walks, because each is a chain of dependent multiplications.
func (o *order) append(dst []int, from, to int) []int {
	for ; o.n > 0 && from+4 <= to; from += 4 {
		i := uint64(from)
		la, ra := i/o.cols, i%o.cols
		lb, rb := o.after(la, ra)
		lc, rc := o.after(lb, rb)
		ld, rd := o.after(lc, rc)
		for k := 0; k < len(o.keys); k += 2 {
			left, right := o.keys[k], o.keys[k+1]
			la = add(la, below(mix(ra^left), o.rows), o.rows)
			lb = add(lb, below(mix(rb^left), o.rows), o.rows)
			lc = add(lc, below(mix(rc^left), o.rows), o.rows)
			ld = add(ld, below(mix(rd^left), o.rows), o.rows)
			ra = add(ra, below(mix(la^right), o.cols), o.cols)
			rb = add(rb, below(mix(lb^right), o.cols), o.cols)
			rc = add(rc, below(mix(lc^right), o.cols), o.cols)
			rd = add(rd, below(mix(ld^right), o.cols), o.cols)
		}
		a, b, c, d := la*o.cols+ra, lb*o.cols+rb, lc*o.cols+rc, ld*o.cols+rd
		if max(a, b, c, d) < o.n {
			dst = append(dst, int(a), int(b), int(c), int(d))
			continue
		}
		for k := range 4 {
			dst = append(dst, o.at(from+k))
		}
	}
	for ; from < to; from++ {
		dst = append(dst, o.at(from))
	}
	return dst
}

// after returns the cell after (l, r).
func (o *order) after(l, r uint64) (uint64, uint64) {
	if r++; r == o.cols {
		return l + 1, 0
	}
	return l, r
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below maps a hash to [0, n).
func below(hash, n uint64) uint64 {
	hi, _ := bits.Mul64(hash, n)
	return hi
}

// add returns a+b modulo n, for a and b below n.
func add(a, b, n uint64) uint64 {
	if a += b; a >= n {
		a -= n
	}
	return a
}
