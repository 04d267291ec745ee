package interpreter

import (
	"bytes"
	"errors"
	"fmt"

	"ringtrain/export/tfpb"
)

// raggedOps returns the operations of this file.
func raggedOps() []op {
	return []op{
		{name: "RaggedTensorToSparse", kinds: "is", out: "sparse_indices+sparse_values+sparse_dense_shape", bind: only("RAGGED_RANK", 1), run: raggedToSparse},
		{name: "RaggedTensorToTensor", kinds: "iTTii", types: []tfpb.DataType{tfpb.DataType_DT_INT64}, bind: bindRagged, run: raggedToTensor},
	}
}

// rowEnds returns where each row ends that the splits of input i cut so many values into.
func (c *call) rowEnds(i, values int) ([]int, error) {
	a, splits, last := c.arena(), c.in[i], 0
	n := splits.length()
	for k := range n {
		v := splits.integer(k)
		if v < last || v > values || k == 0 && v != 0 || k == n-1 && v != values {
			return nil, fmt.Errorf("split %d is %d, want splits from 0 to %d that do not fall", k, v, values)
		}
		a.ends, last = append(a.ends, v), v
	}
	if n == 0 || len(splits.Shape) != 1 {
		return nil, errors.New("want a vector of splits")
	}
	return a.ends[1:], nil
}

// raggedToSparse makes a sparse matrix of the texts that splits cut into rows.
func raggedToSparse(c *call) error {
	ends, err := c.rowEnds(0, len(c.in[1].Bytes))
	if err != nil {
		return err
	}
	return c.setRows(c.in[1].Bytes, ends)
}

func bindRagged(n *node) (any, error) {
	types := string(bytes.Join(n.attrs["row_partition_types"].GetList().GetS(), []byte("+")))
	if want := "FIRST_DIM_SIZE+VALUE_ROWIDS"; types != want {
		return nil, fmt.Errorf("row_partition_types are %s, want %s", types, want)
	}
	return nil, nil
}

// raggedToTensor makes a matrix of int64 values, of each of which the row is given. Rows that are too short are
// filled up with a default, those that are too long are cut.
func raggedToTensor(c *call) error {
	shape, values, def, height, rows := c.in[0], c.in[1], c.in[2], c.in[3], c.in[4]
	if shape.length() != 2 || len(values.Shape) != 1 || def.length() != 1 || height.length() != 1 || rows.length() != values.length() {
		return errors.New("want the size of a matrix, values, a default, the number of rows and a row for each value")
	}
	// each calls f with the row and the column of each value.
	each := func(f func(i, row, column int)) {
		column := 0
		for i := range values.Int64 {
			column++
			if i == 0 || rows.integer(i) != rows.integer(i-1) {
				column = 0
			}
			f(i, rows.integer(i), column)
		}
	}
	last, most, fit := 0, 0, true
	each(func(_, row, column int) {
		fit = fit && row >= last && row < height.integer(0)
		last, most = row, max(most, column+1)
	})
	if !fit {
		return fmt.Errorf("rows of values fall, or are not below %d", height.integer(0))
	}
	size := [2]int{height.integer(0), most}
	for k := range size {
		if d := shape.integer(k); d >= 0 {
			size[k] = d
		}
	}
	if err := c.make(0, tfpb.DataType_DT_INT64, size[:]...); err != nil {
		return err
	}
	for i := range c.out[0].Int64 {
		c.out[0].Int64[i] = def.Int64[0]
	}
	each(func(i, row, column int) {
		if row < size[0] && column < size[1] {
			c.out[0].Int64[row*size[1]+column] = values.Int64[i]
		}
	})
	return nil
}
