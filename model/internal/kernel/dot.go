package kernel

// GemmTB computes dst = a·bᵀ.
//
//	a [m, k]   b [n, k]   dst [m, n]
//
// dst must not overlap the others. Each element is the dot product of two rows.
// Gonum's kernel would not do here: the order of its sums depends on where the
// rows lie in memory, so that equal ranks could differ in the last bit.
func GemmTB(dst, a, b []float32, m, n, k int) {
	if len(dst) != m*n || len(a) != m*k || len(b) != n*k {
		panic("kernel: GemmTB: length does not match shape")
	}
	for i := range m {
		row := a[i*k : (i+1)*k]
		for j := range n {
			dst[i*n+j] = dot(row, b[j*k:(j+1)*k])
		}
	}
}

// dot returns Σ x[i]·y[i] in float32, each product rounded before it is added.
// Four sums run side by side, of the elements with index 0, 1, 2 and 3 modulo
// 4, and the result is (s₀+s₁)+(s₂+s₃).
func dot(x, y []float32) float32 {
	var s0, s1, s2, s3 float32
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a, b := x[i:i+4:i+4], y[i:i+4:i+4]
		s0 += float32(a[0] * b[0])
		s1 += float32(a[1] * b[1])
		s2 += float32(a[2] * b[2])
		s3 += float32(a[3] * b[3])
	}
	switch len(x) - i {
	case 3:
		s2 += float32(x[i+2] * y[i+2])
		fallthrough
	case 2:
		s1 += float32(x[i+1] * y[i+1])
		fallthrough
	case 1:
		s0 += float32(x[i] * y[i])
	}
	return (s0 + s1) + (s2 + s3)
}
