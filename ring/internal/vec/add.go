package vec

// Add computes dst[i] += src[i].
func Add(dst, src []float32) { Sum2(dst, dst, src) }

// Sum2 computes dst[i] = a[i] + b[i]. dst may be a or b.
func Sum2(dst, a, b []float32) {
	mustFit(len(a), len(dst))
	mustFit(len(b), len(dst))
	n := bulk(len(dst))
	if n > 0 {
		sumAVX2(&dst[0], &a[0], &b[0], n)
	}
	sum(dst[n:], a[n:], b[n:])
}

// Subtract computes dst[i] -= src[i].
func Subtract(dst, src []float32) {
	mustFit(len(src), len(dst))
	n := bulk(len(dst))
	if n > 0 {
		subtractAVX2(&dst[0], &src[0], n)
	}
	subtract(dst[n:], src[n:])
}

func sum(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

func subtract(dst, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] -= src[i]
	}
}
