package libsvm

import (
	"slices"

	"ringtrain/model/tensor"
)

// fields is the memory of a goroutine that puts the pairs of a line into bags by field.
type fields struct {
	of      []uint32 // field of each pair of the line
	next    []int32  // of each field, the place of its next pair
	ids     []uint32 // the pairs as they were read
	weights []float32
}

// bags adds the pairs of a line from place i on, with a bag for each field. The pairs of a field keep
// their order.
func (p *parser) bags(x *tensor.Bags, all []byte, i int) error {
	f, ok := p.idle.Get().(*fields)
	if !ok {
		f = new(fields)
	}
	defer p.idle.Put(f)
	f.of = f.of[:0]
	first, bag := len(x.Slot), len(x.Start)
	if err := p.pairs(x, f, all, i); err != nil {
		return err
	}
	x.Start = slices.Grow(x.Start, p.config.Bags)[:bag+p.config.Bags]
	ends := x.Start[bag:]
	clear(ends)
	for _, field := range f.of {
		ends[field]++
	}
	sum := int32(first)
	for k, n := range ends {
		sum += n
		ends[k] = sum
	}
	if !slices.IsSorted(f.of) {
		f.arrange(x, x.Start[bag-1:])
	}
	return nil
}

// arrange orders the last pairs of x by field. starts has the beginning of each field's bag.
func (f *fields) arrange(x *tensor.Bags, starts []int32) {
	first := starts[0]
	f.ids = append(f.ids[:0], x.Slot[first:]...)
	f.weights = append(f.weights[:0], x.Weights[first:]...)
	f.next = append(f.next[:0], starts...)
	for k, field := range f.of {
		at := f.next[field]
		x.Slot[at], x.Weights[at] = f.ids[k], f.weights[k]
		f.next[field]++
	}
}
