package savedmodel

import (
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// idsInput adds a list of ids and a list of values. With several fields it adds a list
// of the ids' fields, and with n > 0 a list of n dense features. ParseExample extracts
// the lists from examples.
func (bu *builder) idsInput(names Names, fields, n int) {
	lists := []feature{{name: names.IDs, t: tfpb.DataType_DT_INT64}, {name: names.Values, t: tfpb.DataType_DT_FLOAT}}
	if fields > 1 {
		lists = append(lists, feature{name: names.Fields, t: tfpb.DataType_DT_INT64})
	}
	k := len(lists)
	bu.parse(lists, bu.required(names.Dense, n))
	bu.add("Identity", nodeIndices, []string{output(parse, 0)}, int64s())
	bu.add("Identity", nodeIDs, []string{output(parse, k)}, int64s())
	values := bu.agreeing("agree/", output(parse, 0), output(parse, 1), output(parse, k+1), tfpb.DataType_DT_FLOAT)
	bu.add("Identity", nodeValues, []string{values}, floats())
	bu.add("Identity", nodeShape, []string{output(parse, 2*k)}, int64s())
	bu.batchSize()
	bu.rowsAndColumn()
	if fields > 1 {
		numbers := bu.agreeing("agree_fields/", output(parse, 0), output(parse, 2), output(parse, k+2), tfpb.DataType_DT_INT64)
		bu.add("Identity", nodeFields, []string{numbers}, int64s())
		bu.bags(fields)
	}
	if n > 0 {
		bu.add("Identity", nodeX, []string{output(parse, 3*k)}, floats())
	}
}

func int64s() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_INT64)} }

// rowsAndColumn adds the row of each id, and the values as a column.
func (bu *builder) rowsAndColumn() {
	bu.add("StridedSlice", nodeRows, []string{
		nodeIndices,
		bu.numbers("rows/stack", 0, 0), bu.numbers("rows/stack_1", 0, 1), bu.numbers("rows/stack_2", 1, 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32),
		"begin_mask": intAttr(1), "end_mask": intAttr(1), "shrink_axis_mask": intAttr(2),
	})
	bu.add("ExpandDims", nodeColumn, []string{nodeValues, bu.number("values_col/dim", 1)}, floats())
}

// bags adds the bag of each id, row·fields + field, and the number of bags.
func (bu *builder) bags(fields int) {
	count := bu.constant(nodeBags+"/fields", &tfpb.TensorProto{
		Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(), Int64Val: []int64{int64(fields)},
	})
	first := bu.add("Mul", nodeBags+"/first", []string{nodeRows, count}, int64s())
	bu.add("AddV2", nodeBags, []string{first, nodeFields}, int64s())
	bu.add("Mul", nodeBagsEnd, []string{nodeBatch, bu.number(nodeBagsEnd+"/fields", int32(fields))},
		attrs{"T": typeAttr(tfpb.DataType_DT_INT32)})
}

// sumByRow adds the sum of data [nnz, width] over the ids of each example.
func (l layerNodes) sumByRow(name, data string) string {
	return l.segments(name, data, nodeRows, nodeBatch)
}

// sumByBag adds the sum of data [nnz, width] over the ids of each field of each example.
func (l layerNodes) sumByBag(name, data string, fields int) string {
	if fields == 1 {
		return l.sumByRow(name, data)
	}
	return l.segments(name, data, nodeBags, nodeBagsEnd)
}

func (l layerNodes) segments(name, data, segments, count string) string {
	return l.add("UnsortedSegmentSum", name, []string{data, segments, count}, attrs{
		"T": typeAttr(tfpb.DataType_DT_FLOAT), "Tindices": typeAttr(tfpb.DataType_DT_INT64),
	})
}

// weighted adds value · table row for each id.
func (l layerNodes) weighted(n *graph.Node) string {
	lookup := l.add("ResourceGather", n.Name+"/lookup", []string{n.Vars[0].Name, nodeIDs}, attrs{
		"dtype": typeAttr(tfpb.DataType_DT_FLOAT), "Tindices": typeAttr(tfpb.DataType_DT_INT64),
	})
	return l.add("Mul", n.Name+"/weighted", []string{lookup, nodeColumn}, floats())
}

// embedded has the nodes of an embedding that other nodes read.
type embedded struct {
	weighted string // value · row of each id
	sum      string // by example; "" before it was added
}

// embedding adds the pooled rows of each field, with the fields side by side. read
// reports whether a layer other than an fm reads the embedding.
func (l layerNodes) embedding(n *graph.Node, read bool) string {
	e := &embedded{weighted: l.weighted(n)}
	l.embedded[n.Name] = e
	if n.Attr.Fields == 1 || read {
		sum := l.sumByBag(n.Name+"/sum", e.weighted, n.Attr.Fields)
		if n.Attr.Fields == 1 {
			e.sum = sum
		}
		if read {
			return l.sideBySide(n, l.divided(n, sum))
		}
	}
	return e.weighted
}

// divided adds sum divided by the divisor of the pooling, 0 if the divisor is 0.
func (l layerNodes) divided(n *graph.Node, sum string) string {
	var divisor string
	switch n.Attr.Pooling {
	case graph.PoolMean:
		divisor = l.sumByBag(n.Name+"/values", nodeColumn, n.Attr.Fields)
	case graph.PoolSqrtN:
		squares := l.add("Square", n.Name+"/squared", []string{nodeColumn}, floats())
		squares = l.sumByBag(n.Name+"/squares", squares, n.Attr.Fields)
		divisor = l.add("Sqrt", n.Name+"/Sqrt", []string{squares}, floats())
	default:
		return sum
	}
	return l.add("DivNoNan", n.Name+"/DivNoNan", []string{sum, divisor}, floats())
}

func (l layerNodes) sideBySide(n *graph.Node, at string) string {
	if n.Attr.Fields == 1 {
		return at
	}
	return l.reshape(n.Name+"/Reshape", at, n.Out)
}

// fm adds ½·Σ((Σ v)² − Σ v²) over the rows v of the embedding that n reads, by example.
func (l layerNodes) fm(n *graph.Node) string {
	e, name := l.embedded[n.In[0]], n.Name+"/"
	if e.sum == "" {
		e.sum = l.sumByRow(name+"sum", e.weighted)
	}
	whole := l.add("Square", name+"square_of_sum", []string{e.sum}, floats())
	parts := l.sumByRow(name+"sum_of_square", l.add("Square", name+"squared", []string{e.weighted}, floats()))
	diff, axis := l.add("Sub", name+"diff", []string{whole, parts}, floats()), int32(1)
	a := floats()
	if units := n.Attr.Units; units > 1 {
		diff, axis = l.reshape(name+"units", diff, graph.Shape{units, n.Attr.Size / units}), 2
	} else {
		a["keep_dims"] = boolAttr(true)
	}
	twice := l.add("Sum", name+"reduce", []string{diff, l.numbers(name+"reduce/axis", axis)}, a)
	return l.add("Mul", name+"pairwise", []string{twice, l.float(name+"half", 0.5)}, floats())
}

// cross adds x₀·(x·kernel + bias) + x.
func (l layerNodes) cross(n *graph.Node, in []string) string {
	matmul, x := n.Name+"/MatMul", in[len(in)-1]
	z := l.bias(n, l.add("MatMul", matmul, []string{x, l.read(matmul, n.Vars[0].Name)}, floats()))
	product := l.add("Mul", n.Name+"/Mul", []string{in[0], z}, floats())
	return l.add("AddV2", n.Name+"/AddV2", []string{product, x}, floats())
}
