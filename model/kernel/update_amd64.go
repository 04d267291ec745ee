//go:build !noasm

package kernel

// updateArgs is an Update as the assembly takes it: n is a multiple of the width
// of a vector, and not 0.
type updateArgs struct {
	w, g, s0, s1, s2 *float32
	n                int
	c                [6]float32
}

// assembly updates whole vectors of u and returns the number of their elements.
func (r Rule) assembly(s Set, u *Update) int {
	n := len(u.W)
	switch s {
	case AVX512:
		n -= n % 16
	case AVX2:
		n -= n % 8
	default:
		return 0
	}
	if n == 0 || r >= NesterovRows {
		return 0
	}
	a := updateArgs{w: &u.W[0], n: n, c: u.C}
	if len(u.G) > 0 {
		a.g = &u.G[0]
	}
	for i, p := range [...]**float32{&a.s0, &a.s1, &a.s2} {
		if len(u.S[i]) > 0 {
			*p = &u.S[i][0]
		}
	}
	if s == AVX512 {
		updateAVX512(&a, r)
	} else {
		updateAVX2(&a, r)
	}
	return n
}

//go:noescape
func updateAVX2(a *updateArgs, r Rule)

//go:noescape
func updateAVX512(a *updateArgs, r Rule)
