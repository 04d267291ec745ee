package parquet

import (
	"math"
	"slices"

	"ringtrain/input/column"
)

// vector has the values of a column in some records, in the form in which cells want them: one of the slices has them.
type vector struct {
	form    column.Form
	ragged  bool    // records have no, one or several values
	starts  []int32 // of ragged: of each record its first value, and behind them the number of values
	ints    []int64
	doubles []float64 // NaN is missing
	floats  []float32
	prints  []uint64 // 0 is missing
	texts   [][]byte // an empty one is missing
	written []byte   // texts of numbers
}

// newVector returns an empty vector of a column.
func newVector(f column.Form, list bool) vector {
	return vector{form: f, ragged: list || f == column.AsIDs || f == column.AsValues}
}

func (v *vector) reset() {
	v.starts, v.ints, v.doubles, v.floats = v.starts[:0], v.ints[:0], v.doubles[:0], v.floats[:0]
	v.prints, v.texts, v.written = v.prints[:0], v.texts[:0], v.written[:0]
}

// len returns the number of values.
func (v *vector) len() int {
	return len(v.ints) + len(v.doubles) + len(v.floats) + len(v.prints) + len(v.texts)
}

// bytes returns the memory of the vector, without texts that lie in pages.
func (v *vector) bytes() int64 {
	return int64(4*cap(v.starts) + 8*(cap(v.ints)+cap(v.doubles)+cap(v.prints)) + 4*cap(v.floats) + 24*cap(v.texts) + cap(v.written))
}

// start begins n records of a ragged vector that have nothing yet.
func (v *vector) start(n, at int) {
	for range n {
		v.starts = append(v.starts, int32(at))
	}
}

// take appends values of o, which has the same form, at some places.
func (v *vector) take(o *vector, places []int32) {
	switch v.form {
	case column.AsText:
		v.texts = taken(v.texts, o.texts, places)
	case column.AsIDs:
		v.ints = taken(v.ints, o.ints, places)
	case column.AsValues:
		v.floats = taken(v.floats, o.floats, places)
	case column.AsPrints:
		v.prints = taken(v.prints, o.prints, places)
	default:
		v.doubles = taken(v.doubles, o.doubles, places)
	}
}

func taken[T any](dst, from []T, places []int32) []T {
	n := len(dst)
	dst = slices.Grow(dst, len(places))[:n+len(places)]
	for i, at := range places {
		dst[n+i] = from[at]
	}
	return dst
}

// missing appends n missing values to a vector, which has no ids.
func (v *vector) missing(n int) {
	for range n {
		switch v.form {
		case column.AsText:
			v.texts = append(v.texts, nil)
		case column.AsPrints:
			v.prints = append(v.prints, 0)
		case column.AsValues:
			v.floats = append(v.floats, float32(math.NaN()))
		default:
			v.doubles = append(v.doubles, math.NaN())
		}
	}
}

// spread makes room among the last values of a vector: one of each level that is there.
func (v *vector) spread(levels []int32, there int32, values int) {
	v.missing(len(levels) - values)
	switch v.form {
	case column.AsText:
		spread(v.texts[len(v.texts)-len(levels):], levels, there, values, nil)
	case column.AsPrints:
		spread(v.prints[len(v.prints)-len(levels):], levels, there, values, 0)
	case column.AsValues:
		spread(v.floats[len(v.floats)-len(levels):], levels, there, values, float32(math.NaN()))
	default:
		spread(v.doubles[len(v.doubles)-len(levels):], levels, there, values, math.NaN())
	}
}

func spread[T any](dst []T, levels []int32, there int32, values int, missing T) {
	for i := len(levels) - 1; i >= 0; i-- {
		if levels[i] == there {
			values--
			dst[i] = dst[values]
		} else {
			dst[i] = missing
		}
	}
}

// fill sets a cell, which had only values of this form before, to what a record has.
func (v *vector) fill(c *column.Cell, record int) {
	from, to := record, record+1
	if v.ragged {
		from, to = int(v.starts[record]), int(v.starts[record+1])
	}
	switch v.form {
	case column.AsIDs:
		c.IDs = v.ints[from:to]
	case column.AsValues:
		c.Values = v.floats[from:to]
	case column.AsPrints:
		c.Prints = v.prints[from:to]
		if to-from == 1 && c.Prints[0] == 0 {
			c.Prints = nil
		}
	case column.AsText:
		c.Text, c.Texts = nil, nil
		if to-from == 1 {
			c.Text = v.texts[from]
		} else if v.ragged {
			c.Texts = v.texts[from:to]
		}
	default:
		c.Doubles = v.doubles[from:to]
		if to-from == 1 && math.IsNaN(c.Doubles[0]) {
			c.Doubles = nil
		}
	}
}
