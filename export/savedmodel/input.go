package savedmodel

import (
	"fmt"

	"ringtrain/export/tfpb"
)

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

// required is a float list of exactly n features, which every example must have; none for n = 0: an empty default makes it required.
func (bu *builder) required(name string, n int) []feature {
	if n == 0 {
		return nil
	}
	return []feature{{name, tfpb.DataType_DT_FLOAT, bu.zeros("ParseExample/Const", 0), shape(int64(n))}}
}

// A feature is what ParseExample takes out of an example.
type feature struct {
	name    string
	t       tfpb.DataType
	missing string // of dense ones: the node of the default
	shape   *tfpb.TensorShapeProto
}

// parse adds the node that parses examples. Its outputs are the indices of all lists, their values, their
// shapes, and the dense features.
func (bu *builder) parse(lists, dense []feature) {
	example := bu.add("Placeholder", nodeExample, nil, attrs{"dtype": typeAttr(tfpb.DataType_DT_STRING), "shape": shapeAttr(-1)})
	inputs := []string{example, bu.strings(parse + "/names")}
	seen := map[string]bool{}
	keys := func(kind string, features []feature) *tfpb.AttrValue {
		types := typesAttr()
		for i, f := range features {
			if seen[f.name] {
				panic("savedmodel: ParseExample has a key twice")
			}
			seen[f.name] = true
			inputs = append(inputs, bu.texts(fmt.Sprintf("%s/%s_keys_%d", parse, kind, i), nil, f.name))
			types.GetList().Type = append(types.GetList().Type, f.t)
		}
		return types
	}
	listTypes, denseTypes, shapes := keys("sparse", lists), keys("dense", dense), &tfpb.AttrValue_ListValue{}
	for _, f := range dense {
		inputs, shapes.Shape = append(inputs, f.missing), append(shapes.Shape, f.shape)
	}
	bu.add("ParseExample", parse, inputs, attrs{
		"Nsparse": intAttr(int64(len(lists))), "Ndense": intAttr(int64(len(dense))),
		"sparse_types": listTypes, "Tdense": denseTypes, "dense_shapes": listAttr(shapes),
	})
}

// batchSize adds the number of examples. The sum over an example's ids needs the number,
// to make rows also for examples without ids at the end of a batch.
func (bu *builder) batchSize() {
	batch := bu.add("StridedSlice", "batch", []string{
		nodeShape,
		bu.numbers("batch/stack", 0), bu.numbers("batch/stack_1", 1), bu.numbers("batch/stack_2", 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32), "shrink_axis_mask": intAttr(1),
	})
	bu.add("Cast", nodeBatch, []string{batch}, attrs{
		"SrcT": typeAttr(tfpb.DataType_DT_INT64), "DstT": typeAttr(tfpb.DataType_DT_INT32),
	})
}

// denseBatchSize adds the number of examples of dense features.
func (bu *builder) denseBatchSize() {
	shape := bu.add("Shape", "x_shape", []string{nodeX}, floats())
	bu.add("StridedSlice", nodeBatch, []string{
		shape, bu.numbers("batch/stack", 0), bu.numbers("batch/stack_1", 1), bu.numbers("batch/stack_2", 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT32), "Index": typeAttr(tfpb.DataType_DT_INT32), "shrink_axis_mask": intAttr(1),
	})
}
