package savedmodel

import (
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// idsInput adds a list of ids and a list of values. With several fields it adds a list
// of the ids' fields, and with n > 0 a list of n dense features. ParseExample extracts
// the lists from examples.
func (g *builder) idsInput(names Names, fields, n int) {
	lists := []feature{{name: names.IDs, t: tfpb.DataType_DT_INT64}, {name: names.Values, t: tfpb.DataType_DT_FLOAT}}
	if fields > 1 {
		lists = append(lists, feature{name: names.Fields, t: tfpb.DataType_DT_INT64})
	}
	k := len(lists)
	g.parse(lists, g.required(names.Dense, n))
	g.add("Identity", nodeIndices, []string{output(parse, 0)}, int64s())
	g.add("Identity", nodeIDs, []string{output(parse, k)}, int64s())
	values := g.agreeing("agree/", output(parse, 0), output(parse, 1), output(parse, k+1), tfpb.DataType_DT_FLOAT)
	g.add("Identity", nodeValues, []string{values}, floats())
	g.add("Identity", nodeShape, []string{output(parse, 2*k)}, int64s())
	g.batchSize()
	g.rowsAndColumn()
	if fields > 1 {
		numbers := g.agreeing("agree_fields/", output(parse, 0), output(parse, 2), output(parse, k+2), tfpb.DataType_DT_INT64)
		g.add("Identity", nodeFields, []string{numbers}, int64s())
		g.bags(fields)
	}
	if n > 0 {
		g.add("Identity", nodeX, []string{output(parse, 3*k)}, floats())
	}
}

func int64s() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_INT64)} }

// rowsAndColumn adds the row of each id, and the values as a column.
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

// bags adds the bag of each id, row·fields + field, and the number of bags.
func (g *builder) bags(fields int) {
	count := g.constant(nodeBags+"/fields", &tfpb.TensorProto{
		Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(), Int64Val: []int64{int64(fields)},
	})
	first := g.add("Mul", nodeBags+"/first", []string{nodeRows, count}, int64s())
	g.add("AddV2", nodeBags, []string{first, nodeFields}, int64s())
	g.add("Mul", nodeBagsEnd, []string{nodeBatch, g.number(nodeBagsEnd+"/fields", int32(fields))},
		attrs{"T": typeAttr(tfpb.DataType_DT_INT32)})
}

// sumByRow adds the sum of data [nnz, width] over the ids of each example.
func (g *builder) sumByRow(name, data string) string {
	return g.segments(name, data, nodeRows, nodeBatch)
}

// sumByBag adds the sum of data [nnz, width] over the ids of each field of each example.
func (g *builder) sumByBag(name, data string, fields int) string {
	if fields == 1 {
		return g.sumByRow(name, data)
	}
	return g.segments(name, data, nodeBags, nodeBagsEnd)
}

func (g *builder) segments(name, data, segments, count string) string {
	return g.add("UnsortedSegmentSum", name, []string{data, segments, count}, attrs{
		"T": typeAttr(tfpb.DataType_DT_FLOAT), "Tindices": typeAttr(tfpb.DataType_DT_INT64),
	})
}

// weighted adds value · table row for each id.
func (g *builder) weighted(n *graph.Node) string {
	lookup := g.add("ResourceGather", n.Name+"/lookup", []string{n.Vars[0].Name, nodeIDs}, attrs{
		"dtype": typeAttr(tfpb.DataType_DT_FLOAT), "Tindices": typeAttr(tfpb.DataType_DT_INT64),
	})
	return g.add("Mul", n.Name+"/weighted", []string{lookup, nodeColumn}, floats())
}

// embedded has the nodes of an embedding that other nodes read.
type embedded struct {
	weighted string // value · row of each id
	sum      string // by example; "" before it was added
}

// embedding adds the pooled rows of each field, with the fields side by side. read
// reports whether a layer other than an fm reads the embedding.
func (g *builder) embedding(n *graph.Node, read bool) string {
	e := &embedded{weighted: g.weighted(n)}
	if g.embedded == nil {
		g.embedded = map[string]*embedded{}
	}
	g.embedded[n.Name] = e
	if n.Attr.Fields == 1 || read {
		sum := g.sumByBag(n.Name+"/sum", e.weighted, n.Attr.Fields)
		if n.Attr.Fields == 1 {
			e.sum = sum
		}
		if read {
			return g.sideBySide(n, g.divided(n, sum))
		}
	}
	return e.weighted
}

// divided adds sum divided by the divisor of the pooling, 0 if the divisor is 0.
func (g *builder) divided(n *graph.Node, sum string) string {
	var divisor string
	switch n.Attr.Pooling {
	case graph.PoolMean:
		divisor = g.sumByBag(n.Name+"/values", nodeColumn, n.Attr.Fields)
	case graph.PoolSqrtN:
		squares := g.add("Square", n.Name+"/squared", []string{nodeColumn}, floats())
		squares = g.sumByBag(n.Name+"/squares", squares, n.Attr.Fields)
		divisor = g.add("Sqrt", n.Name+"/Sqrt", []string{squares}, floats())
	default:
		return sum
	}
	return g.add("DivNoNan", n.Name+"/DivNoNan", []string{sum, divisor}, floats())
}

func (g *builder) sideBySide(n *graph.Node, at string) string {
	if n.Attr.Fields == 1 {
		return at
	}
	return g.reshape(n.Name+"/Reshape", at, n.Out)
}

// fm adds ½·Σ((Σ v)² − Σ v²) over the rows v of the embedding that n reads, by example.
func (g *builder) fm(n *graph.Node) string {
	e, name := g.embedded[n.In[0]], n.Name+"/"
	if e.sum == "" {
		e.sum = g.sumByRow(name+"sum", e.weighted)
	}
	whole := g.add("Square", name+"square_of_sum", []string{e.sum}, floats())
	parts := g.sumByRow(name+"sum_of_square", g.add("Square", name+"squared", []string{e.weighted}, floats()))
	diff, axis := g.add("Sub", name+"diff", []string{whole, parts}, floats()), int32(1)
	a := floats()
	if units := n.Attr.Units; units > 1 {
		diff, axis = g.reshape(name+"units", diff, graph.Shape{units, n.Attr.Size / units}), 2
	} else {
		a["keep_dims"] = boolAttr(true)
	}
	twice := g.add("Sum", name+"reduce", []string{diff, g.numbers(name+"reduce/axis", axis)}, a)
	return g.add("Mul", name+"pairwise", []string{twice, g.float(name+"half", 0.5)}, floats())
}

// cross adds x₀·(x·kernel + bias) + x.
func (g *builder) cross(n *graph.Node, in []string) string {
	matmul, x := n.Name+"/MatMul", in[len(in)-1]
	z := g.bias(n, g.add("MatMul", matmul, []string{x, g.read(matmul, n.Vars[0].Name)}, floats()))
	product := g.add("Mul", n.Name+"/Mul", []string{in[0], z}, floats())
	return g.add("AddV2", n.Name+"/AddV2", []string{product, x}, floats())
}
