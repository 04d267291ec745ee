package ring

import "slices"

// A store keeps encoded segments between their receipt and their sending. Its
// slots are used in turn.
type store struct {
	slots []slot
	slab  []byte
}

// A slot holds one encoded segment.
type slot struct {
	room    []byte
	payload []byte // what is in it
	codec   uint8
}

// set prepares s for count segments of up to size bytes.
func (s *store) set(count, size int) {
	s.slab = grow(s.slab, count*size)
	s.slots = slices.Grow(s.slots[:0], count)[:count]
	for i := range s.slots {
		s.slots[i] = slot{room: s.slab[i*size : (i+1)*size : (i+1)*size]}
	}
}

func (s *store) len() int { return len(s.slots) }

// slot returns the slot of the i-th segment.
func (s *store) slot(i int) *slot { return &s.slots[i%len(s.slots)] }

// grow returns n bytes, those of b if there are as many. Their contents are
// unspecified.
func grow(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }

// growFloats is grow for elements.
func growFloats(x []float32, n int) []float32 { return slices.Grow(x[:0], n)[:n] }
