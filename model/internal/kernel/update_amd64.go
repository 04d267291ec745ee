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
	if !r.hasAssembly() {
		return 0
	}
	switch s {
	case AVX512:
		n -= n % 16
	case AVX2:
		n -= n % 8
	default:
		return 0
	}
	if n == 0 {
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
		r.avx512(&a)
	} else {
		r.avx2(&a)
	}
	return n
}

func (r Rule) avx2(a *updateArgs) {
	switch r {
	case SGD:
		sgdAVX2(a)
	case Momentum:
		momentumAVX2(a)
	case Nesterov:
		nesterovAVX2(a)
	case Adagrad:
		adagradAVX2(a)
	case Adadelta:
		adadeltaAVX2(a)
	case Adam:
		adamAVX2(a)
	case AdamRows:
		adamRowsAVX2(a)
	case AdamDecay:
		adamDecayAVX2(a)
	case AdamW:
		adamWAVX2(a)
	case Ftrl:
		ftrlAVX2(a)
	case RMSProp:
		rmspropAVX2(a)
	case RMSPropCentered:
		centeredAVX2(a)
	}
}

func (r Rule) avx512(a *updateArgs) {
	switch r {
	case SGD:
		sgdAVX512(a)
	case Momentum:
		momentumAVX512(a)
	case Nesterov:
		nesterovAVX512(a)
	case Adagrad:
		adagradAVX512(a)
	case Adadelta:
		adadeltaAVX512(a)
	case Adam:
		adamAVX512(a)
	case AdamRows:
		adamRowsAVX512(a)
	case AdamDecay:
		adamDecayAVX512(a)
	case AdamW:
		adamWAVX512(a)
	case Ftrl:
		ftrlAVX512(a)
	case RMSProp:
		rmspropAVX512(a)
	case RMSPropCentered:
		centeredAVX512(a)
	}
}

//go:noescape
func sgdAVX2(a *updateArgs)

//go:noescape
func momentumAVX2(a *updateArgs)

//go:noescape
func nesterovAVX2(a *updateArgs)

//go:noescape
func adagradAVX2(a *updateArgs)

//go:noescape
func adadeltaAVX2(a *updateArgs)

//go:noescape
func adamAVX2(a *updateArgs)

//go:noescape
func adamRowsAVX2(a *updateArgs)

//go:noescape
func adamDecayAVX2(a *updateArgs)

//go:noescape
func adamWAVX2(a *updateArgs)

//go:noescape
func ftrlAVX2(a *updateArgs)

//go:noescape
func rmspropAVX2(a *updateArgs)

//go:noescape
func centeredAVX2(a *updateArgs)

//go:noescape
func sgdAVX512(a *updateArgs)

//go:noescape
func momentumAVX512(a *updateArgs)

//go:noescape
func nesterovAVX512(a *updateArgs)

//go:noescape
func adagradAVX512(a *updateArgs)

//go:noescape
func adadeltaAVX512(a *updateArgs)

//go:noescape
func adamAVX512(a *updateArgs)

//go:noescape
func adamRowsAVX512(a *updateArgs)

//go:noescape
func adamDecayAVX512(a *updateArgs)

//go:noescape
func adamWAVX512(a *updateArgs)

//go:noescape
func ftrlAVX512(a *updateArgs)

//go:noescape
func rmspropAVX512(a *updateArgs)

//go:noescape
func centeredAVX512(a *updateArgs)
