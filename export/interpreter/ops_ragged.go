package interpreter

import "ringtrain/export/tfpb"

// raggedOps returns the operations of this file.
func raggedOps() []op {
	long := []tfpb.DataType{tfpb.DataType_DT_INT64}
	return []op{
		{name: "RaggedTensorToSparse", kinds: "is", out: "sparse_indices+sparse_values+sparse_dense_shape", attrs: "RAGGED_RANK=1", run: raggedToSparse},
		{name: "RaggedTensorToTensor", kinds: "iTTii", types: long, attrs: "row_partition_types row_partition_types=FIRST_DIM_SIZE,VALUE_ROWIDS", run: raggedToTensor},
	}
}

// rowEnds returns where each row ends that the splits of input i cut so many values into.
func (c *call) rowEnds(i, values int) []int {
	splits, last := c.list(i), 0
	c.want(len(splits) > 0, "splits")
	for k, v := range splits {
		if v < last || v > values || k == 0 && v != 0 || k == len(splits)-1 && v != values {
			refuse("split %d is %d, want splits from 0 to %d that do not fall", k, v, values)
		}
		last = v
	}
	return splits[1:]
}

// raggedToSparse makes a sparse matrix of the texts that splits cut into rows.
func raggedToSparse(c *call) { c.setRows(c.in[1].Bytes, c.rowEnds(0, len(c.in[1].Bytes))) }

// raggedToTensor makes a matrix of the size of input 0, of values in rows. The default fills up rows that are too short;
// those that are too long are cut. A size of -1 is that of the rows.
func raggedToTensor(c *call) {
	size, values, def, height, rows := c.list(0), c.in[1], c.in[2], c.in[3], c.list(4)
	c.want(len(size) == 2 && def.length() == 1 && height.length() == 1 && len(rows) == values.length(),
		"the size of a matrix, values, a default, the number of rows and a row for each value")
	columns, last, column, most := c.arena(), 0, 0, 0
	for _, row := range rows {
		if row < last || row >= height.integer(0) {
			refuse("a value is in row %d, want %d to %d", row, last, height.integer(0)-1)
		}
		if row > last {
			last, column = row, 0
		}
		columns.ends = append(columns.ends, column)
		column++
		most = max(most, column)
	}
	if size[0] < 0 {
		size[0] = height.integer(0)
	}
	if size[1] < 0 {
		size[1] = most
	}
	c.make(0, tfpb.DataType_DT_INT64, size...)
	out := c.out[0]
	out.repeat(def)
	for i, row := range rows {
		if column := columns.ends[i]; row < size[0] && column < size[1] {
			out.Int64[row*size[1]+column] = values.Int64[i]
		}
	}
}
