package vec

// stride is the number of elements that one iteration of an assembly loop processes.
const stride = 32

// bulk returns how many of n elements the assembly processes: whole strides. The portable body
// processes the rest.
func bulk(n int) int {
	if !assembly {
		return 0
	}
	return n &^ (stride - 1)
}
