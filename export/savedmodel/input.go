package savedmodel

import "ringtrain/export/tfpb"

// The nodes of an example's features. A request either feeds serialized examples into
// tf_example, or feeds these nodes directly.
const (
	nodeExample = "tf_example"
	nodeX       = "x"
	nodeIndices = "ids_indices" // [nnz, 2]: row and place of each id
	nodeIDs     = "ids"         // [nnz]
	nodeValues  = "values"      // [nnz]
	nodeShape   = "ids_shape"   // [2]: rows, longest row
	nodeRows    = "rows"        // [nnz]: row of each id
	nodeColumn  = "values_col"  // [nnz, 1]
	nodeFields  = "fields"      // [nnz]: field of each id, if there are several fields
	nodeBags    = "bags"        // [nnz]: row and field of each id as one number
	nodeBatch   = "batch_size"  // int32 scalar: rows
	nodeBagsEnd = "bags_size"   // int32 scalar: rows times fields
)

const parse = "ParseExample/ParseExample"

// examples adds the nodes that both kinds of input begin with.
func (g *builder) examples() (inputs []string) {
	example := g.add("Placeholder", nodeExample, nil,
		attrs{"dtype": typeAttr(tfpb.DataType_DT_STRING), "shape": shapeAttr(-1)})
	return []string{example, g.strings(parse + "/names")}
}

// denseInput adds a float list of exactly n features, which every example must have.
func (g *builder) denseInput(feature string, n int) {
	g.parsed(nil, nil, feature, n)
	g.add("Identity", nodeX, []string{parse}, floats())
}

// parsed adds the node that parses examples: sparse features of the given types and, if
// n > 0, a float list of n features. Its outputs are the indices of all sparse features,
// their values, their shapes, and the float list.
func (g *builder) parsed(keys []string, types []tfpb.DataType, dense string, n int) {
	inputs := append(g.examples(), g.parseKeys("sparse", keys)...)
	a := attrs{
		"Nsparse":      intAttr(int64(len(keys))),
		"Ndense":       intAttr(0),
		"sparse_types": typesAttr(types...),
		"Tdense":       typesAttr(),
		"dense_shapes": listAttr(&tfpb.AttrValue_ListValue{}),
	}
	if n > 0 {
		inputs = append(inputs, g.parseKeys("dense", []string{dense})...)
		inputs = append(inputs, g.zeros("ParseExample/Const", 0)) // an empty default makes the feature required
		a["Ndense"], a["Tdense"] = intAttr(1), typesAttr(tfpb.DataType_DT_FLOAT)
		a["dense_shapes"] = listAttr(&tfpb.AttrValue_ListValue{Shape: []*tfpb.TensorShapeProto{shape(int64(n))}})
	}
	g.add("ParseExample", parse, inputs, a)
}

// batchSize adds the number of examples. The sum over an example's ids needs the number,
// to make rows also for examples without ids at the end of a batch.
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
