package input

import (
	"bytes"
	"strconv"

	"ringtrain/input/internal/farmhash"
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
		c.value, c.numeric = number(c.from)
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
		if x, ok := number(cell); ok {
			return x >= c.value
		}
	}
	return bytes.Compare(cell, c.from) >= 0
}

// number returns the number that a cell is.
func number(cell []byte) (float64, bool) {
	x, err := strconv.ParseFloat(string(cell), 64)
	return x, err == nil && x == x
}
