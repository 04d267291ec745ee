package kernel

// Drop determines the units that a dropout drops. The choice depends on nothing else, so
// it is the same for any number of ranks and threads, forward and backward.
type Drop struct {
	Seed  uint64 // of the run and the layer
	Step  uint64
	First uint64  // position of the first row in the global batch
	Rate  float32 // share of dropped units, 0 ≤ Rate < 1
}

// dropRows is the task of Dropout.
type dropRows struct {
	set      Set
	dst, src []float32
	width    int
	d        Drop
	add      bool
}

// Dropout writes src/(1−rate), or 0 for a dropped unit, to dst, or adds it. Backward it
// does the same to the gradient. dst may be src.
func (e *Engine) Dropout(dst, src []float32, rows int, d Drop, add bool) {
	if len(dst) != len(src) || rows < 0 || rows > 0 && len(src)%rows != 0 || rows == 0 && len(src) > 0 {
		panic("kernel: Dropout: length does not match shape")
	}
	if !(d.Rate >= 0 && d.Rate < 1) {
		panic("kernel: Dropout: rate is not in [0, 1)")
	}
	if rows == 0 {
		return
	}
	if d.Rate == 0 && !add {
		copy(dst, src) // src·1 has the same bits
		return
	}
	t := &e.dropRows
	t.set, t.dst, t.src, t.width, t.d, t.add = e.set, dst, src, len(src)/rows, d, add
	e.Run(rows, 1+elementGrain/max(1, 2*t.width), t)
}

// Span computes rows lo to hi.
func (d *dropRows) Span(lo, hi, _ int) {
	c := dropKey{limit: uint32(float64(d.d.Rate) * (1 << 32)), scale: 1 / (1 - d.d.Rate)}
	for i := lo; i < hi; i++ {
		c.example(d.d, uint64(i))
		dropSpan(d.set, d.dst[i*d.width:(i+1)*d.width], d.src[i*d.width:(i+1)*d.width], &c, d.add)
	}
}

// dropKey has the common parameters of an example's units.
type dropKey struct {
	a, b  uint32 // two words of the example's hash
	limit uint32 // a unit with a lower hash is dropped
	scale float32
}

// example sets the key of row i.
func (k *dropKey) example(d Drop, i uint64) {
	h := mix(d.Seed + 0x9e3779b97f4a7c15)
	h = mix(h ^ d.Step + 0x9e3779b97f4a7c15)
	h = mix(h ^ (d.First + i) + 0x9e3779b97f4a7c15)
	k.a, k.b = uint32(h), uint32(h>>32)
}

// mix is a bijection in which each bit of x changes half of the result's bits on average
// (the finalizer of splitmix64, Steele et al., "Fast splittable pseudorandom number
// generators", 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash returns 32 bits for a unit of the key's example.
func (k *dropKey) hash(unit uint32) uint32 {
	h := unit*0x9e3779b1 + k.a
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ k.b ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func dropRef(dst, src []float32, first int, k *dropKey, add bool) {
	for j, v := range src {
		v = float32(v * k.scale)
		if k.hash(uint32(first+j)) < k.limit {
			v = 0
		}
		if add {
			v += dst[j]
		}
		dst[j] = v
	}
}
