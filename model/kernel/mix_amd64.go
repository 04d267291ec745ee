//go:build !noasm

package kernel

// mixArgs has the arguments of mixRows's assembly.
type mixArgs struct {
	ids     *uint32
	w       *float32
	n, cols int       // rows, and elements of a row: a multiple of 8, not 0
	sums    [8]uint64 // result: mixRows is their sum
}

// mixPlaces has the hashes of the first eight positions of a row of id 0.
//
//lint:ignore U1000 the assembly reads it
var mixPlaces = [...]uint64{
	mixPlace, 2 * mixPlace % (1 << 64), 3 * mixPlace % (1 << 64), 4 * mixPlace % (1 << 64),
	5 * mixPlace % (1 << 64), 6 * mixPlace % (1 << 64), 7 * mixPlace % (1 << 64), 8 * mixPlace % (1 << 64),
}

// mixRows is the function mixRows. Vectors of 64-bit products are in AVX-512 alone.
func (s Set) mixRows(ids []uint32, w []float32, width int) uint64 {
	if s != AVX512 || width%8 != 0 || len(w) == 0 {
		return mixRows(ids, w, width)
	}
	a := mixArgs{ids: &ids[0], w: &w[0], n: len(ids), cols: width}
	mixRowsAVX512(&a)
	var sum uint64
	for _, v := range a.sums {
		sum += v
	}
	return sum
}

//go:noescape
func mixRowsAVX512(a *mixArgs)
