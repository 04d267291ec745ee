package interpreter

import "fmt"

// slicing is StridedSlice. A bit of an attribute stands for an entry of begin, end and strides.
type slicing struct {
	beginMask, endMask, ellipsis, newAxis, shrink int
}

func bindSlice(n *node) (any, error) {
	return &slicing{
		n.integer("begin_mask", 0), n.integer("end_mask", 0), n.integer("ellipsis_mask", 0),
		n.integer("new_axis_mask", 0), n.integer("shrink_axis_mask", 0),
	}, nil
}

// span is what StridedSlice takes of a dimension.
type span struct{ begin, end, stride int }

// cut has the dimensions of a result, each with its step in the input, and the place of the first element.
type cut struct {
	size, step [maxDims]int
	rank, from int
}

func (c *cut) add(size, step int) error {
	if c.rank == maxDims {
		return errRank
	}
	c.size[c.rank], c.step[c.rank] = size, step
	c.rank++
	return nil
}

// slice takes the range begin:end:stride of each dimension, as Python does.
func slice(c *call) error {
	var entries [3][maxDims]int
	n, err := c.list(1, &entries[0])
	for i := 1; i < 3 && err == nil; i++ {
		var k int
		if k, err = c.list(1+i, &entries[i]); err == nil && k != n {
			err = fmt.Errorf("begin has %d entries, input %d has %d", n, 1+i, k)
		}
	}
	if err != nil {
		return err
	}
	var spans [maxDims]span
	for i := range n {
		spans[i] = span{entries[0][i], entries[1][i], entries[2][i]}
	}
	var k cut
	if err := c.bound.(*slicing).apply(&k, c.in[0].Shape, spans[:n]); err != nil {
		return err
	}
	if err := c.make(0, c.in[0].Type, k.size[:k.rank]...); err != nil {
		return err
	}
	w := walk{at: [4]int{0, k.from}}
	for d := range k.rank {
		w.dim(k.size[d], [4]int{Elements(k.size[d+1 : k.rank]), k.step[d]})
	}
	w.move(c.out[0], c.in[0])
	return nil
}

// apply sets k to what the entries take of a tensor of the shape in.
func (s *slicing) apply(k *cut, in []int, entries []span) error {
	d, seen := 0, false
	whole := func(last int) (err error) { // takes all of the dimensions up to last
		for ; d < last && err == nil; d++ {
			err = k.add(in[d], Elements(in[d+1:]))
		}
		return err
	}
	for i, e := range entries {
		var err error
		switch bit := 1 << i; {
		case s.ellipsis&bit != 0:
			if seen {
				return fmt.Errorf("ellipsis_mask is %b, want one bit", s.ellipsis)
			}
			seen = true
			after := 0 // entries behind the ellipsis that take a dimension
			for j := i + 1; j < len(entries); j++ {
				after += 1 - s.newAxis>>j&1
			}
			err = whole(len(in) - after)
		case s.newAxis&bit != 0:
			err = k.add(1, 0)
		case d >= len(in):
			err = fmt.Errorf("%d entries for a tensor of rank %d", len(entries), len(in))
		default:
			err = s.entry(k, e, bit, in[d], Elements(in[d+1:]))
			d++
		}
		if err != nil {
			return err
		}
	}
	return whole(len(in))
}

// entry takes a range of one dimension, or one index of it.
func (s *slicing) entry(k *cut, e span, bit, size, inner int) error {
	if e.stride == 0 {
		return fmt.Errorf("a stride is 0")
	}
	if s.shrink&bit != 0 {
		at := e.begin
		if at < 0 {
			at += size
		}
		if at < 0 || at >= size || e.stride < 0 {
			return fmt.Errorf("index %d of a dimension of %d", e.begin, size)
		}
		k.from += at * inner
		return nil
	}
	low, high := 0, size // the range of begin and end
	first, last := low, high
	if e.stride < 0 {
		low, high = -1, size-1
		first, last = high, low
	}
	place := func(v, masked, mask int) int {
		if mask&bit != 0 {
			return masked
		}
		if v < 0 {
			v += size
		}
		return min(max(v, low), high)
	}
	begin, end := place(e.begin, first, s.beginMask), place(e.end, last, s.endMask)
	n := max(0, (end-begin)/e.stride)
	if (end-begin)%e.stride != 0 && (end > begin) == (e.stride > 0) {
		n++
	}
	if n > 0 {
		k.from += begin * inner
	}
	return k.add(n, e.stride*inner)
}
