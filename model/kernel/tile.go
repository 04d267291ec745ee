package kernel

// tile has the arguments of a micro-kernel, which computes
//
//	c[i*ldc+j] = relu(s + Σ a[i*rs+r*(k*cs+jump)+l*cs]·b[(r*k+l)*bs+j] + bias[j])
//
// for i in [0, rows) and j in [0, cols). The sum takes r in [0, runs) and in each run l
// in [0, k), both in ascending order. It starts at s, which is c[i*ldc+j] if add is
// true, else 0. bias may be nil, and relu may be off. The micro-kernel accesses no
// element of b and c beyond cols.
type tile struct {
	a, b, c, bias       []float32
	rs, cs, jump        int // strides of a along its rows and k, and gap between runs
	bs, ldc             int
	rows, cols, k, runs int
	add, relu           bool
}

// tilePortable defines the result of the micro-kernels, except for the rounding of
// products: the assembly fuses each with its addition. Pairs of rows by four columns fit
// the registers of most machines.
func tilePortable(t *tile) {
	for i := 0; i < t.rows; i += 2 {
		for j := 0; j < t.cols; j += 4 {
			if i+2 <= t.rows && j+4 <= t.cols {
				t.twoByFour(i, j)
				continue
			}
			for r := i; r < min(i+2, t.rows); r++ {
				for c := j; c < min(j+4, t.cols); c++ {
					t.one(r, c)
				}
			}
		}
	}
}

// one computes a single element.
func (t *tile) one(i, j int) {
	var s float32
	if t.add {
		s = t.c[i*t.ldc+j]
	}
	x, y := i*t.rs, j
	for range t.runs {
		for range t.k {
			s += float32(t.a[x] * t.b[y])
			x += t.cs
			y += t.bs
		}
		x += t.jump
	}
	t.put(i, j, s)
}

// put completes the sum s of an element.
func (t *tile) put(i, j int, s float32) {
	if t.bias != nil {
		s += t.bias[j]
	}
	if t.relu && s < 0 {
		s = 0
	}
	t.c[i*t.ldc+j] = s
}

// twoByFour computes rows i and i+1 of columns j to j+4.
func (t *tile) twoByFour(i, j int) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float32
	if t.add {
		c := t.c[i*t.ldc+j:]
		s00, s01, s02, s03 = c[0], c[1], c[2], c[3]
		c = t.c[(i+1)*t.ldc+j:]
		s10, s11, s12, s13 = c[0], c[1], c[2], c[3]
	}
	a, x, y := t.a[i*t.rs:], 0, j
	for range t.runs {
		for range t.k {
			a0, a1 := a[x], a[x+t.rs]
			b := t.b[y : y+4 : y+4]
			s00 += float32(a0 * b[0])
			s01 += float32(a0 * b[1])
			s02 += float32(a0 * b[2])
			s03 += float32(a0 * b[3])
			s10 += float32(a1 * b[0])
			s11 += float32(a1 * b[1])
			s12 += float32(a1 * b[2])
			s13 += float32(a1 * b[3])
			x += t.cs
			y += t.bs
		}
		x += t.jump
	}
	t.put(i, j, s00)
	t.put(i, j+1, s01)
	t.put(i, j+2, s02)
	t.put(i, j+3, s03)
	t.put(i+1, j, s10)
	t.put(i+1, j+1, s11)
	t.put(i+1, j+2, s12)
	t.put(i+1, j+3, s13)
}
