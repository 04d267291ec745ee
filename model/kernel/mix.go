package kernel

import "math"

// mixRows returns the sum of the hashes of all elements, of their ids, positions and
// bits. The sum does not depend on the order.
func mixRows(ids []uint32, w []float32, width int) uint64 {
	var sum uint64
	for i, id := range ids {
		place := uint64(id) * mixID
		for _, v := range w[i*width : (i+1)*width] {
			place += mixPlace
			sum += mixOne(place ^ uint64(math.Float32bits(v)))
		}
	}
	return sum
}

const (
	mixID    = 0xd6e8feb86659fd93
	mixPlace = 0x9e3779b97f4a7c15
)

// mixOne is a bijection in which each bit of x changes about half of the result's bits.
func mixOne(x uint64) uint64 {
	x = (x ^ x>>32) * mixID
	return x ^ x>>29
}
