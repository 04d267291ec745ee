package savedmodel

import (
	"fmt"
	"math"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// The nodes of the pass-through column. The output is a node of its own, because no node
// can be fed and fetched at once.
const (
	nodeKey    = "key" // [n]
	nodeKeyOut = "key_out"
)

// idOutside is an id outside of every table. A lookup of it fails the whole request.
const idOutside = math.MaxInt32

// columns adds the inputs of a model from the columns of raw records, as package
// input/column makes them. In an example a number is a float list of one element, a text
// a bytes list of one element, ids an int64 list and their values a float list. A column
// that is read as a number and as a text is a text, of which the graph makes a number.
// ParseExample returns NaN for a missing number and "" for a missing text.
//
// Single-id fields are columns of a matrix [n, fields]. A mask of the same shape marks
// the ids that exist:
//
//	texts, numbers ──► ids [n, fields] ──┐
//	               └─► mask [n, fields] ─┴► Where, GatherNd ──┐
//	ids with values ──────────────────────────────────────────┴► ids, values, fields of all
func (g *builder) columns(c *graph.Columns) {
	p := g.parsedColumns(c)
	if len(c.Dense) > 0 {
		g.denseColumns(c.Dense, p)
	}
	if len(c.Bags) > 0 {
		g.bagColumns(c.Bags, p)
	}
	if c.Key != "" {
		g.add("Identity", nodeKey, []string{p.texts[c.Key]}, stringsType())
		g.add("Identity", nodeKeyOut, []string{nodeKey}, stringsType())
	}
}

func doubles() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_DOUBLE)} }

func stringsType() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_STRING)} }

// denseColumns adds the dense input x [n, columns], which is computed in double and then rounded.
func (g *builder) denseColumns(columns []graph.DenseColumn, p parsedColumns) {
	var missing, mean, scale []float64
	var logs []bool
	someLogs := false
	for _, d := range columns {
		missing, mean, scale, logs = append(missing, d.Default), append(mean, d.Mean), append(scale, d.Scale), append(logs, d.Log1p)
		someLogs = someLogs || d.Log1p
	}
	double := doubles()
	x := g.denseNumbers(columns, p)
	isMissing := g.add("IsNan", "columns/missing", []string{x}, double)
	x = g.add("SelectV2", "columns/known", []string{isMissing, g.doubles("columns/default", missing), x}, double)
	if someLogs {
		sign := g.add("Sign", "columns/sign", []string{x}, double)
		log := g.add("Log1p", "columns/log1p", []string{g.add("Abs", "columns/abs", []string{x}, double)}, double)
		log = g.add("Mul", "columns/signed", []string{sign, log}, double)
		x = g.add("SelectV2", "columns/transformed", []string{g.bools("columns/logs", logs), log, x}, double)
	}
	x = g.add("Sub", "columns/centred", []string{x, g.doubles("columns/mean", mean)}, double)
	x = g.add("Mul", "columns/scaled", []string{x, g.doubles("columns/scale", scale)}, double)
	g.cast(nodeX, x, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_FLOAT)
}

// denseNumbers adds the numbers of dense columns as double [n, columns], NaN for missing ones.
func (g *builder) denseNumbers(columns []graph.DenseColumn, p parsedColumns) string {
	isWide := func(d graph.DenseColumn) bool { return p.isWide(d.Name) }
	someWide := slices.ContainsFunc(columns, isWide)
	var all []string
	for i, d := range columns {
		x := p.numbers[d.Name]
		if someWide && !isWide(d) {
			x = g.toDouble(fmt.Sprintf("columns/doubles/%d", i), x)
		}
		all = append(all, x)
	}
	if someWide {
		return g.stack("columns/numbers", all, tfpb.DataType_DT_DOUBLE)
	}
	return g.toDouble("columns/doubles", g.stack("columns/numbers", all, tfpb.DataType_DT_FLOAT))
}

func (g *builder) toDouble(name, x string) string {
	return g.cast(name, x, tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_DOUBLE)
}

func (g *builder) cast(name, x string, from, to tfpb.DataType) string {
	return g.add("Cast", name, []string{x}, attrs{"SrcT": typeAttr(from), "DstT": typeAttr(to)})
}

// stack joins vectors [n] as the columns of [n, k].
func (g *builder) stack(name string, vectors []string, t tfpb.DataType) string {
	return g.add("Pack", name, vectors, attrs{"N": intAttr(int64(len(vectors))), "T": typeAttr(t), "axis": intAttr(1)})
}

// bagColumns adds the ids of all fields, with their values, fields and rows.
func (g *builder) bagColumns(bags []graph.BagColumn, p parsedColumns) {
	n := g.exampleCount()
	var ids, masks []string
	var fields []int64
	var parts []idPart
	for k := range bags {
		b := &bags[k]
		name := fmt.Sprintf("columns/field_%d/", k)
		if b.Kind == graph.IDs {
			parts = append(parts, g.listed(name, b, int64(k), p))
			continue
		}
		id, mask := g.single(name, b, p)
		ids, masks, fields = append(ids, g.plus(name+"id", id, int64(b.First))), append(masks, mask), append(fields, int64(k))
	}
	if len(ids) > 0 {
		parts = append(parts, g.present(ids, masks, fields))
	}
	g.joined(parts)
	places := g.long("columns/places", int64(len(bags)))
	g.add("Pack", nodeShape, []string{n, places}, attrs{"N": intAttr(2), "T": typeAttr(tfpb.DataType_DT_INT64)})
	g.batchSize()
	g.rowsAndColumn()
	if len(bags) > 1 {
		g.bags(len(bags))
	}
}

// idPart is a sequence of ids: indices [m, 2] of row and place; ids, values and fields
// [m].
type idPart struct{ indices, ids, values, fields string }

// joined concatenates the parts into the nodes that requests may feed.
func (g *builder) joined(parts []idPart) {
	for _, out := range []struct {
		name string
		t    tfpb.DataType
		of   func(p idPart) string
	}{
		{nodeIndices, tfpb.DataType_DT_INT64, func(p idPart) string { return p.indices }},
		{nodeIDs, tfpb.DataType_DT_INT64, func(p idPart) string { return p.ids }},
		{nodeValues, tfpb.DataType_DT_FLOAT, func(p idPart) string { return p.values }},
		{nodeFields, tfpb.DataType_DT_INT64, func(p idPart) string { return p.fields }},
	} {
		var all []string
		for _, p := range parts {
			all = append(all, out.of(p))
		}
		if len(all) == 1 {
			g.add("Identity", out.name, all, attrs{"T": typeAttr(out.t)})
			continue
		}
		g.add("ConcatV2", out.name, append(all, g.number(out.name+"/axis", 0)), attrs{"N": intAttr(int64(len(all))), "T": typeAttr(out.t)})
	}
}

// present selects the existing ids of the single-id fields.
func (g *builder) present(ids, masks []string, fields []int64) idPart {
	matrix := g.stack("columns/ids", ids, tfpb.DataType_DT_INT64)
	mask := g.stack("columns/mask", masks, tfpb.DataType_DT_BOOL)
	where := g.add("Where", "columns/where", []string{mask}, attrs{})
	taken := g.add("GatherNd", "columns/taken", []string{matrix, where}, attrs{
		"Tparams": typeAttr(tfpb.DataType_DT_INT64), "Tindices": typeAttr(tfpb.DataType_DT_INT64),
	})
	column := g.add("StridedSlice", "columns/column", []string{
		where, g.numbers("columns/column/begin", 0, 1), g.numbers("columns/column/end", 0, 2), g.numbers("columns/column/stride", 1, 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32),
		"begin_mask": intAttr(1), "end_mask": intAttr(1), "shrink_axis_mask": intAttr(2),
	})
	field := g.add("GatherV2", "columns/field", []string{g.longs("columns/fields", fields), column, g.number("columns/field/axis", 0)}, attrs{
		"Tparams": typeAttr(tfpb.DataType_DT_INT64), "Tindices": typeAttr(tfpb.DataType_DT_INT64), "Taxis": typeAttr(tfpb.DataType_DT_INT32),
	})
	return idPart{where, taken, g.filled("columns/ones", taken, 1), field}
}

// single adds the id of a single-id field, without the offset First, and the mask of
// existing ids.
func (g *builder) single(name string, b *graph.BagColumn, p parsedColumns) (id, mask string) {
	switch b.Kind {
	case graph.Buckets:
		return g.bucketed(name, b, p.numbers[b.Name], p.isWide(b.Name))
	case graph.Vocabulary:
		text := p.texts[b.Name]
		return g.lookedUp(name, b, text), g.notEmpty(name, text)
	case graph.Cross:
		var texts []string
		for i, of := range b.Of {
			text := p.texts[of]
			texts = append(texts, text)
			if there := g.notEmpty(fmt.Sprintf("%s%d/", name, i), text); mask == "" {
				mask = there
			} else {
				mask = g.add("LogicalAnd", name+"both", []string{mask, there}, attrs{})
			}
		}
		text := g.add("StringJoin", name+"joined", texts, attrs{"N": intAttr(int64(len(texts))), "separator": stringAttr(graph.CrossSeparator)})
		return g.hashed(name, b, text), mask
	default:
		text := p.texts[b.Name]
		return g.hashed(name, b, text), g.notEmpty(name, text)
	}
}

func (g *builder) notEmpty(name, text string) string {
	return g.add("NotEqual", name+"there", []string{text, g.texts(name+"empty", nil, "")}, stringsType())
}

func (g *builder) hashed(name string, b *graph.BagColumn, text string) string {
	return g.add("StringToHashBucketFast", name+"hash", []string{text}, attrs{"num_buckets": intAttr(int64(b.Size))})
}

// bucketed adds the number of boundaries that are not above a number, which is double if it is wide. Else
// it and the boundaries are float32, as a request has them.
func (g *builder) bucketed(name string, b *graph.BagColumn, x string, wide bool) (id, mask string) {
	missing, boundaries := b.Default, b.Boundaries
	if !wide {
		missing, boundaries = float64(float32(missing)), graph.Narrow(boundaries)
		x = g.toDouble(name+"double", x)
	}
	isMissing := g.add("IsNan", name+"missing", []string{x}, doubles())
	x = g.add("SelectV2", name+"known", []string{isMissing, g.double(name+"default", missing), x}, doubles())
	x = g.add("ExpandDims", name+"column", []string{x, g.number(name+"column/dim", 1)}, doubles())
	reached := g.add("GreaterEqual", name+"reached", []string{x, g.doubles(name+"boundaries", boundaries)}, doubles())
	mask = g.add("LogicalNot", name+"there", []string{isMissing}, attrs{})
	if b.HasDefault {
		mask = g.add("LogicalOr", name+"always", []string{isMissing, mask}, attrs{})
	}
	ones := g.cast(name+"ones", reached, tfpb.DataType_DT_BOOL, tfpb.DataType_DT_INT64)
	return g.add("Sum", name+"bucket", []string{ones, g.numbers(name+"bucket/axis", 1)}, int64s()), mask
}

// lookedUp adds the index of a text in a vocabulary. The loader fills the lookup table.
func (g *builder) lookedUp(name string, b *graph.BagColumn, text string) string {
	types := attrs{"key_dtype": typeAttr(tfpb.DataType_DT_STRING), "value_dtype": typeAttr(tfpb.DataType_DT_INT64)}
	table := g.add("HashTableV2", name+"table", nil, attrs{
		"key_dtype": types["key_dtype"], "value_dtype": types["value_dtype"], "shared_name": stringAttr("ringtrain/" + name + "table"),
	})
	places := make([]int64, len(b.Vocabulary))
	for i := range places {
		places[i] = int64(i)
	}
	keyed := attrs{"Tin": types["key_dtype"], "Tout": types["value_dtype"]}
	fill := g.add("LookupTableImportV2", name+"fill", []string{table, g.strings(name+"texts", b.Vocabulary...), g.longs(name+"places", places)}, keyed)
	if g.tables == "" {
		g.tables = g.add("NoOp", "columns/fill_tables", nil, attrs{})
		g.fill = g.nodes[len(g.nodes)-1]
	}
	g.fill.Input = append(g.fill.Input, "^"+fill)
	unknown := int64(len(b.Vocabulary))
	if b.Strict {
		unknown = idOutside
	}
	return g.add("LookupTableFindV2", name+"place", []string{table, text, g.long(name+"unknown", unknown)}, keyed)
}

// listed adds the ids of a list. It maps an id outside of the column to idOutside, so
// that it cannot become an id of the next field.
func (g *builder) listed(name string, b *graph.BagColumn, field int64, p parsedColumns) idPart {
	ids := p.values[b.Name]
	below := g.add("Less", name+"below", []string{ids, g.long(name+"size", int64(b.Size))}, int64s())
	from := g.add("GreaterEqual", name+"from", []string{ids, g.long(name+"zero", 0)}, int64s())
	inside := g.add("LogicalAnd", name+"inside", []string{below, from}, attrs{})
	shifted := g.plus(name+"shifted", ids, int64(b.First))
	part := idPart{
		indices: p.indices[b.Name],
		ids:     g.add("SelectV2", name+"id", []string{inside, shifted, g.long(name+"outside", idOutside)}, int64s()),
		values:  g.filled(name+"ones", ids, 1),
	}
	if b.Values != "" {
		part.values = g.agreeing(name+"agree/", part.indices, p.indices[b.Values], p.values[b.Values], tfpb.DataType_DT_FLOAT)
	}
	fields := g.add("ZerosLike", name+"zeros", []string{ids}, int64s())
	part.fields = g.plus(name+"field", fields, field)
	return part
}

// plus adds a number to int64s.
func (g *builder) plus(name, x string, n int64) string {
	return g.add("AddV2", name, []string{x, g.long(name+"/first", n)}, int64s())
}

// filled adds a float tensor of one value with the shape of like.
func (g *builder) filled(name, like string, v float32) string {
	dims := g.add("Shape", name+"/shape", []string{like}, int64s())
	return g.add("Fill", name, []string{dims, g.float(name+"/value", v)}, floats())
}

// exampleCount adds the number of examples as int64.
func (g *builder) exampleCount() string {
	dims := g.add("Shape", "columns/examples", []string{nodeExample}, attrs{"T": typeAttr(tfpb.DataType_DT_STRING), "out_type": typeAttr(tfpb.DataType_DT_INT64)})
	return g.add("StridedSlice", "columns/count", []string{
		dims, g.numbers("columns/count/begin", 0), g.numbers("columns/count/end", 1), g.numbers("columns/count/stride", 1),
	}, attrs{"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32), "shrink_axis_mask": intAttr(1)})
}

// long adds an int64 scalar, longs a vector.
func (g *builder) long(name string, v int64) string {
	return g.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(), Int64Val: []int64{v}})
}

func (g *builder) longs(name string, v []int64) string {
	return g.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(int64(len(v))), Int64Val: v})
}

func (g *builder) double(name string, v float64) string {
	return g.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_DOUBLE, TensorShape: shape(), DoubleVal: []float64{v}})
}

// doubles adds a vector of doubles, bools one of truths.
func (g *builder) doubles(name string, v []float64) string {
	return g.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_DOUBLE, TensorShape: shape(int64(len(v))), DoubleVal: v})
}

func (g *builder) bools(name string, v []bool) string {
	return g.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_BOOL, TensorShape: shape(int64(len(v))), BoolVal: v})
}
