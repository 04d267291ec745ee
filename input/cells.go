package input

import (
	"bytes"

	"ringtrain/input/internal/farmhash"
	"ringtrain/model/graph"
)

// cells decide parts by cells, alike in each file and on each rank.
type cells struct {
	cut     cut
	seed    uint64
	from    []byte // cells from this on validate; nil: the cut says all
	value   float64
	numeric bool // from is the number value
}

// cellPlaces is how many places a hash has. A float64 counts them exactly.
const cellPlaces = 1 << 53

// cells returns how the split, which has a column, decides by cells.
func (s *Split) cells() *cells {
	c := &cells{cut: s.cut(cellPlaces), seed: mix(s.Seed ^ splitKey)}
	if s.From != "" {
		c.from = []byte(s.From)
		c.value, c.numeric = graph.ClassNumber(s.From)
	}
	return c
}

// part returns the part of the records with a cell.
func (c *cells) part(cell []byte) Part {
	in := c.cut.part(mix(farmhash.Fingerprint64(cell)^c.seed) % cellPlaces)
	if in == Training && c.from != nil && c.reached(cell) {
		return Validation
	}
	return in
}

// part returns the part of a place.
func (c *cut) part(place uint64) Part {
	switch {
	case place < c.test:
		return Test
	case c.from <= place && place < c.to:
		return Validation
	}
	return Training
}

// reached reports whether a cell is from or comes behind it.
func (c *cells) reached(cell []byte) bool {
	if c.numeric {
		if x, ok := graph.ClassNumber(string(cell)); ok {
			return x >= c.value
		}
	}
	return bytes.Compare(cell, c.from) >= 0
}
