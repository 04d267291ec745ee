package interpreter

import (
	"errors"
	"fmt"
	"math"

	"github.com/dgryski/go-farm"

	"ringtrain/export/tfpb"
)

// cross are the attributes of SparseCross of dense inputs, hashed.
type cross struct {
	buckets uint64 // 0: as many as there are positive numbers
	key     uint64
}

func bindCross(n *node) (any, error) {
	if n.integer("N", 0) != 0 || !n.boolean("hashed_output", false) {
		return nil, errors.New("crosses sparse features or joins texts: only hashes of dense ones are known here")
	}
	buckets := n.integer("num_buckets", 0)
	if buckets < 0 {
		return nil, fmt.Errorf("num_buckets is %d, want 0 or more", buckets)
	}
	return &cross{buckets: uint64(buckets), key: uint64(n.integer("hash_key", 0))}, nil
}

// sparseCross hashes each combination of a value of each input [n, columns], row by row. The last input varies fastest.
func sparseCross(c *call) error {
	x := c.bound.(*cross)
	rows, columns := -1, 1
	for i, t := range c.in {
		switch {
		case len(t.Shape) != 2:
			return fmt.Errorf("input %d has the shape %v, want a matrix", i, t.Shape)
		case rows >= 0 && t.Shape[0] != rows:
			return fmt.Errorf("input %d has %d rows, want %d", i, t.Shape[0], rows)
		case t.Shape[1] > 0 && columns > maxBytes/t.Shape[1]:
			return fmt.Errorf("more than %d combinations", maxBytes)
		}
		rows, columns = t.Shape[0], columns*t.Shape[1]
	}
	if len(c.in) == 0 {
		rows, columns = 0, 0
	}
	n, err := c.frame.reserve(tfpb.DataType_DT_INT64, []int{rows, columns})
	if err != nil {
		return err
	}
	if err := errors.Join(c.make(0, tfpb.DataType_DT_INT64, n, 2), c.make(1, tfpb.DataType_DT_INT64, n), c.make(2, tfpb.DataType_DT_INT64, 2)); err != nil {
		return err
	}
	for i := range n {
		row, column := i/columns, i%columns
		c.out[0].Int64[2*i], c.out[0].Int64[2*i+1] = int64(row), int64(column)
		hash, left := x.key, columns
		for _, t := range c.in {
			left /= t.Shape[1]
			at := row*t.Shape[1] + column/left%t.Shape[1]
			if t.Type == tfpb.DataType_DT_STRING {
				hash = concatenated(hash, farm.Fingerprint64(t.Bytes[at]))
			} else {
				hash = concatenated(hash, uint64(t.Int64[at]))
			}
		}
		if x.buckets > 0 {
			hash %= x.buckets
		} else {
			hash %= math.MaxInt64
		}
		c.out[1].Int64[i] = int64(hash)
	}
	c.out[2].Int64[0], c.out[2].Int64[1] = int64(rows), int64(columns)
	return nil
}

// concatenated returns the fingerprint of two fingerprints (FingerprintCat64 of TensorFlow).
func concatenated(a, b uint64) uint64 {
	const mul = 0xc6a4a7935bd1e995
	mix := func(v uint64) uint64 { return v ^ v>>47 }
	h := a ^ mul
	h ^= mix(b*mul) * mul
	h *= mul
	return mix(mix(h) * mul)
}
