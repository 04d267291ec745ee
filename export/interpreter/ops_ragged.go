package interpreter

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/export/tfpb"
)

// raggedOps returns the operations of this file, on ragged and sparse tensors.
func raggedOps() []op {
	return []op{
		{name: "RaggedTensorToSparse", kinds: "ix", out: "sparse_indices+sparse_values+sparse_dense_shape", bind: only("RAGGED_RANK", 1), run: raggedToSparse},
		{name: "RaggedTensorToTensor", kinds: "iTTii", bind: bindRagged, run: raggedToTensor},
		{name: "SparseToDense", kinds: "iiTT", run: sparseToDense},
	}
}

// set sets value i to value j of a tensor of the same type.
func (t *Tensor) set(i int, from *Tensor, j int) {
	switch t.Type {
	case tfpb.DataType_DT_FLOAT:
		t.Float32[i] = from.Float32[j]
	case tfpb.DataType_DT_DOUBLE:
		t.Float64[i] = from.Float64[j]
	case tfpb.DataType_DT_INT32:
		t.Int32[i] = from.Int32[j]
	case tfpb.DataType_DT_INT64:
		t.Int64[i] = from.Int64[j]
	case tfpb.DataType_DT_BOOL:
		t.Bool[i] = from.Bool[j]
	case tfpb.DataType_DT_STRING:
		t.Bytes[i] = from.Bytes[j]
	}
}

// checkSplits returns an error unless splits cut so many values into rows.
func checkSplits(splits *Tensor, values int) error {
	n, last := Elements(splits.Shape), 0
	for i := range n {
		v := splits.integer(i)
		if v < last || v > values || i == 0 && v != 0 || i == n-1 && v != values {
			return fmt.Errorf("split %d is %d, want splits from 0 to %d that do not fall", i, v, values)
		}
		last = v
	}
	return nil
}

// raggedToSparse makes a sparse tensor of the rows that splits cut out of values.
func raggedToSparse(c *call) error {
	splits, values := c.in[0], c.in[1]
	if len(splits.Shape) != 1 || splits.Shape[0] == 0 || len(values.Shape) != 1 {
		return fmt.Errorf("splits of shape %v and values of shape %v, want vectors, and a split", splits.Shape, values.Shape)
	}
	n := values.Shape[0]
	if err := checkSplits(splits, n); err != nil {
		return err
	}
	if err := errors.Join(c.make(0, tfpb.DataType_DT_INT64, n, 2), c.make(2, tfpb.DataType_DT_INT64, 2)); err != nil {
		return err
	}
	c.share(1, values, n)
	most := 0
	for row := range splits.Shape[0] - 1 {
		first, end := splits.integer(row), splits.integer(row+1)
		for at := first; at < end; at++ {
			c.out[0].Int64[2*at], c.out[0].Int64[2*at+1] = int64(row), int64(at-first)
		}
		most = max(most, end-first)
	}
	c.out[2].Int64[0], c.out[2].Int64[1] = int64(splits.Shape[0]-1), int64(most)
	return nil
}

func bindRagged(n *node) (any, error) {
	var types []string
	for _, t := range n.attrs["row_partition_types"].GetList().GetS() {
		types = append(types, string(t))
	}
	if want := []string{"FIRST_DIM_SIZE", "VALUE_ROWIDS"}; !slices.Equal(types, want) {
		return nil, fmt.Errorf("row_partition_types are %v, want %v: no others are known here", types, want)
	}
	return nil, nil
}

// raggedToTensor makes a matrix of values, of each of which the row is given. Rows that are too short are filled up
// with a default, those that are too long are cut.
func raggedToTensor(c *call) error {
	shape, values, def, first, rows := c.in[0], c.in[1], c.in[2], c.in[3], c.in[4]
	if len(values.Shape) != 1 || len(def.Shape) != 0 || len(first.Shape) != 0 || !slices.Equal(rows.Shape, values.Shape) {
		return fmt.Errorf("values %v, default %v, number of rows %v and their rows %v, want vectors of one size and scalars",
			values.Shape, def.Shape, first.Shape, rows.Shape)
	}
	size := [2]int{-1, -1}
	if len(shape.Shape) > 0 {
		if Elements(shape.Shape) != 2 {
			return fmt.Errorf("a shape of %d dimensions, want 2", Elements(shape.Shape))
		}
		size = [2]int{shape.integer(0), shape.integer(1)}
	} else if all := shape.integer(0); all != -1 {
		return fmt.Errorf("a scalar shape is %d, want -1", all)
	}
	height := first.integer(0)
	last, n, most := 0, 0, 0
	for i := range values.Shape[0] {
		row := rows.integer(i)
		if row < last || row >= height {
			return fmt.Errorf("value %d is in row %d, want %d to %d", i, row, last, height-1)
		}
		if row > last {
			last, n = row, 0
		}
		n++
		most = max(most, n)
	}
	if size[0] < 0 {
		size[0] = height
	}
	if size[1] < 0 {
		size[1] = most
	}
	if err := c.make(0, values.Type, size[0], size[1]); err != nil {
		return err
	}
	for i := range Elements(c.out[0].Shape) {
		c.out[0].set(i, def, 0)
	}
	last, n = 0, 0
	for i := range values.Shape[0] {
		row := rows.integer(i)
		if row > last {
			last, n = row, 0
		}
		if row < size[0] && n < size[1] {
			c.out[0].set(row*size[1]+n, values, i)
		}
		n++
	}
	return nil
}

// sparseToDense makes a tensor of its values, each at its index, and of a default at all others.
func sparseToDense(c *call) error {
	indices, shape, values, def := c.in[0], c.in[1], c.in[2], c.in[3]
	count, rank := 1, 1
	if len(indices.Shape) > 0 {
		count = indices.Shape[0]
	}
	if len(indices.Shape) > 1 {
		rank = indices.Shape[1]
	}
	if len(indices.Shape) > 2 || len(shape.Shape) != 1 || shape.Shape[0] != rank || len(def.Shape) != 0 {
		return fmt.Errorf("indices %v, shape %v and default %v, want indices of each dimension and a scalar", indices.Shape, shape.Shape, def.Shape)
	}
	if len(values.Shape) > 1 || len(values.Shape) == 1 && values.Shape[0] != count {
		return fmt.Errorf("values of shape %v, want a scalar or %d values", values.Shape, count)
	}
	dims := make([]int, rank)
	for k := range dims {
		dims[k] = shape.integer(k)
	}
	if err := c.make(0, values.Type, dims...); err != nil {
		return err
	}
	for i := range Elements(dims) {
		c.out[0].set(i, def, 0)
	}
	ordered, last := c.node.boolean("validate_indices", true), -1
	for i := range count {
		at := 0
		for k, d := range dims {
			index := indices.integer(i*rank + k)
			if index < 0 || index >= d {
				return fmt.Errorf("index %d is %d in dimension %d, want 0 to %d", i, index, k, d-1)
			}
			at = at*d + index
		}
		if ordered && at <= last {
			return fmt.Errorf("index %d is not above that before", i)
		}
		last = at
		c.out[0].set(at, values, min(i, Elements(values.Shape)-1))
	}
	return nil
}
