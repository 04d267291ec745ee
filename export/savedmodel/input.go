package savedmodel

import "ringtrain/export/tfpb"

// The nodes that carry an example's features. A request either feeds serialized
// examples into tf_example, or cuts the graph and feeds these directly.
const (
	nodeExample = "tf_example"
	nodeX       = "x"
	nodeIndices = "ids_indices" // [nnz, 2]: row and place of each id
	nodeIDs     = "ids"         // [nnz]
	nodeValues  = "values"      // [nnz]
	nodeShape   = "ids_shape"   // [2]: rows, longest row
	nodeRows    = "rows"        // [nnz]: row of each id
	nodeColumn  = "values_col"  // [nnz, 1]
	nodeBatch   = "batch_size"  // int32 scalar: rows
)

const parse = "ParseExample/ParseExample"

// examples adds what both kinds of input begin with.
func (g *builder) examples() (inputs []string) {
	example := g.add("Placeholder", nodeExample, nil,
		attrs{"dtype": typeAttr(tfpb.DataType_DT_STRING), "shape": shapeAttr(-1)})
	return []string{example, g.strings(parse + "/names")}
}

// denseInput adds a float list of exactly n features, which every example must
// have.
func (g *builder) denseInput(feature string, n int) {
	inputs := append(g.examples(),
		g.texts(parse+"/dense_keys_0", nil, feature),
		g.zeros("ParseExample/Const", 0)) // an empty default: required
	g.add("ParseExample", parse, inputs, attrs{
		"Nsparse":      intAttr(0),
		"Ndense":       intAttr(1),
		"sparse_types": typesAttr(),
		"Tdense":       typesAttr(tfpb.DataType_DT_FLOAT),
		"dense_shapes": listAttr(&tfpb.AttrValue_ListValue{Shape: []*tfpb.TensorShapeProto{shape(int64(n))}}),
	})
	g.add("Identity", nodeX, []string{parse}, floats())
}

// sparseInput adds a list of ids and one of values. ParseExample puts out all
// indices, then all values, then all shapes.
func (g *builder) sparseInput(ids, values string) {
	inputs := append(g.examples(),
		g.texts(parse+"/sparse_keys_0", nil, ids),
		g.texts(parse+"/sparse_keys_1", nil, values))
	g.add("ParseExample", parse, inputs, attrs{
		"Nsparse":      intAttr(2),
		"Ndense":       intAttr(0),
		"sparse_types": typesAttr(tfpb.DataType_DT_INT64, tfpb.DataType_DT_FLOAT),
		"Tdense":       typesAttr(),
		"dense_shapes": listAttr(&tfpb.AttrValue_ListValue{}),
	})
	int64s := attrs{"T": typeAttr(tfpb.DataType_DT_INT64)}
	g.add("Identity", nodeIndices, []string{output(parse, 0)}, int64s)
	g.add("Identity", nodeIDs, []string{output(parse, 2)}, int64s)
	g.add("Identity", nodeValues, []string{output(parse, 3)}, floats())
	g.add("Identity", nodeShape, []string{output(parse, 4)}, int64s)
	g.batchSize()
	g.rowsAndColumn()
}

// batchSize adds the number of examples: the sum over an example's ids needs it
// to make rows for examples without ids, trailing ones too.
func (g *builder) batchSize() {
	batch := g.add("StridedSlice", "batch", []string{
		nodeShape,
		g.numbers("batch/stack", 0), g.numbers("batch/stack_1", 1), g.numbers("batch/stack_2", 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32), "shrink_axis_mask": intAttr(1),
	})
	g.add("Cast", nodeBatch, []string{batch}, attrs{
		"SrcT": typeAttr(tfpb.DataType_DT_INT64), "DstT": typeAttr(tfpb.DataType_DT_INT32),
	})
}

// denseBatchSize adds the number of examples of dense features.
func (g *builder) denseBatchSize() {
	shape := g.add("Shape", "x_shape", []string{nodeX}, floats())
	g.add("StridedSlice", nodeBatch, []string{
		shape, g.numbers("batch/stack", 0), g.numbers("batch/stack_1", 1), g.numbers("batch/stack_2", 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT32), "Index": typeAttr(tfpb.DataType_DT_INT32), "shrink_axis_mask": intAttr(1),
	})
}

func (g *builder) rowsAndColumn() {
	g.add("StridedSlice", nodeRows, []string{
		nodeIndices,
		g.numbers("rows/stack", 0, 0), g.numbers("rows/stack_1", 0, 1), g.numbers("rows/stack_2", 1, 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32),
		"begin_mask": intAttr(1), "end_mask": intAttr(1), "shrink_axis_mask": intAttr(2),
	})
	g.add("ExpandDims", nodeColumn, []string{nodeValues, g.number("values_col/dim", 1)}, floats())
}
