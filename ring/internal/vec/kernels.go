package vec

// stride is the number of elements that one iteration of an assembly loop processes.
const stride = 32

// Kernels returns the set of kernels that this process uses: "avx2" or "portable". It does not
// change during the process. Ranks may have to agree on it, as on the other kernel sets, although
// all sets of vec give equal bits.
func Kernels() string {
	if assembly {
		return "avx2"
	}
	return "portable"
}

// bulk returns how many of n elements the assembly processes: whole strides. The portable body
// processes the rest.
func bulk(n int) int {
	if !assembly {
		return 0
	}
	return n &^ (stride - 1)
}
