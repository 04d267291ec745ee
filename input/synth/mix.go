package synth

// golden is 2⁶⁴ divided by the golden ratio, an odd number.
const golden = 0x9e3779b97f4a7c15

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014): each bit of the result depends on all of x.
func mix(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// keyOf returns the key of a stream of a seed.
func keyOf(seed, stream uint64) uint64 { return mix(mix(seed) + stream) }

// drawOf returns random number k of a record.
func drawOf(key uint64, record, k int) uint64 { return mix(mix(key+uint64(record)) + uint64(k)) }

// unitOf maps x to a uniform number in [0, 1).
func unitOf(x uint64) float64 { return float64(x>>11) / (1 << 53) }

const rootOf3 = 1.7320508075688772

// evenOf maps x to a uniform number of mean 0 and variance 1.
func evenOf(x uint16) float64 { return float64(rootOf3 * (float64(x)/(1<<15) - 1)) }

// normalOf maps x to an approximately normal number of mean 0 and variance 1: the sum of
// its four quarters.
func normalOf(x uint64) float64 {
	sum := x&0xffff + x>>16&0xffff + x>>32&0xffff + x>>48
	return float64(rootOf3 * (float64(sum)/(1<<16) - 2))
}
