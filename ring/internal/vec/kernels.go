package vec

// turn is the number of elements that one turn of an assembly loop takes.
const turn = 32

// Kernels names the set of kernels that runs in this process: "avx2" or
// "portable". It does not change while the process lives. Ranks may agree on it
// like on the other kernel sets, though all of vec's give equal bits.
func Kernels() string {
	if assembly {
		return "avx2"
	}
	return "portable"
}

// bulk returns how many of n elements go through assembly: whole turns. The
// portable body does the rest.
func bulk(n int) int {
	if !assembly {
		return 0
	}
	return n &^ (turn - 1)
}
