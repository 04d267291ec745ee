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

// columnNodes adds the nodes that make inputs from the columns of raw records.
type columnNodes struct{ *builder }

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
func (cn columnNodes) columns(c *graph.Columns) {
	p := cn.parsedColumns(c)
	if len(c.Dense) > 0 {
		cn.denseColumns(c.Dense, p)
	}
	if len(c.Bags) > 0 {
		cn.bagColumns(c.Bags, p)
	}
	if c.Key != "" {
		cn.add("Identity", nodeKey, []string{p.texts[c.Key]}, stringsType())
		cn.add("Identity", nodeKeyOut, []string{nodeKey}, stringsType())
	}
}

func doubles() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_DOUBLE)} }

func stringsType() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_STRING)} }

// denseColumns adds the dense input x [n, columns], which is computed in double and then rounded.
func (cn columnNodes) denseColumns(columns []graph.DenseColumn, p parsedColumns) {
	var missing, mean, scale []float64
	var logs []bool
	someLogs := false
	for _, d := range columns {
		missing, mean, scale, logs = append(missing, d.Default), append(mean, d.Mean), append(scale, d.Scale), append(logs, d.Log1p)
		someLogs = someLogs || d.Log1p
	}
	double := doubles()
	x := cn.denseNumbers(columns, p)
	isMissing := cn.add("IsNan", "columns/missing", []string{x}, double)
	x = cn.add("SelectV2", "columns/known", []string{isMissing, cn.doubles("columns/default", missing), x}, double)
	if someLogs {
		sign := cn.add("Sign", "columns/sign", []string{x}, double)
		log := cn.add("Log1p", "columns/log1p", []string{cn.add("Abs", "columns/abs", []string{x}, double)}, double)
		log = cn.add("Mul", "columns/signed", []string{sign, log}, double)
		x = cn.add("SelectV2", "columns/transformed", []string{cn.bools("columns/logs", logs), log, x}, double)
	}
	x = cn.add("Sub", "columns/centred", []string{x, cn.doubles("columns/mean", mean)}, double)
	x = cn.add("Mul", "columns/scaled", []string{x, cn.doubles("columns/scale", scale)}, double)
	cn.cast(nodeX, x, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_FLOAT)
}

// denseNumbers adds the numbers of dense columns as double [n, columns], NaN for missing ones.
func (cn columnNodes) denseNumbers(columns []graph.DenseColumn, p parsedColumns) string {
	isWide := func(d graph.DenseColumn) bool { return p.isWide(d.Name) }
	someWide := slices.ContainsFunc(columns, isWide)
	var all []string
	for i, d := range columns {
		x := p.numbers[d.Name]
		if someWide && !isWide(d) {
			x = cn.toDouble(fmt.Sprintf("columns/doubles/%d", i), x)
		}
		all = append(all, x)
	}
	if someWide {
		return cn.stack("columns/numbers", all, tfpb.DataType_DT_DOUBLE)
	}
	return cn.toDouble("columns/doubles", cn.stack("columns/numbers", all, tfpb.DataType_DT_FLOAT))
}

func (bu *builder) toDouble(name, x string) string {
	return bu.cast(name, x, tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_DOUBLE)
}

func (bu *builder) cast(name, x string, from, to tfpb.DataType) string {
	return bu.add("Cast", name, []string{x}, attrs{"SrcT": typeAttr(from), "DstT": typeAttr(to)})
}

// stack joins vectors [n] as the columns of [n, k].
func (bu *builder) stack(name string, vectors []string, t tfpb.DataType) string {
	return bu.add("Pack", name, vectors, attrs{"N": intAttr(int64(len(vectors))), "T": typeAttr(t), "axis": intAttr(1)})
}

// bagColumns adds the ids of all fields, with their values, fields and rows.
func (cn columnNodes) bagColumns(bags []graph.BagColumn, p parsedColumns) {
	n := cn.exampleCount()
	var ids, masks []string
	var fields []int64
	var parts []idPart
	for k := range bags {
		b := &bags[k]
		name := fmt.Sprintf("columns/field_%d/", k)
		if b.Kind == graph.IDs {
			parts = append(parts, cn.listed(name, b, int64(k), p))
			continue
		}
		id, mask := cn.single(name, b, p)
		ids, masks, fields = append(ids, cn.plus(name+"id", id, int64(b.First))), append(masks, mask), append(fields, int64(k))
	}
	if len(ids) > 0 {
		parts = append(parts, cn.present(ids, masks, fields))
	}
	cn.joined(parts)
	places := cn.long("columns/places", int64(len(bags)))
	cn.add("Pack", nodeShape, []string{n, places}, attrs{"N": intAttr(2), "T": typeAttr(tfpb.DataType_DT_INT64)})
	cn.batchSize()
	cn.rowsAndColumn()
	if len(bags) > 1 {
		cn.bags(len(bags))
	}
}

// idPart is a sequence of ids: indices [m, 2] of row and place; ids, values and fields
// [m].
type idPart struct{ indices, ids, values, fields string }

// joined concatenates the parts into the nodes that requests may feed.
func (cn columnNodes) joined(parts []idPart) {
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
			cn.add("Identity", out.name, all, attrs{"T": typeAttr(out.t)})
			continue
		}
		cn.add("ConcatV2", out.name, append(all, cn.number(out.name+"/axis", 0)), attrs{"N": intAttr(int64(len(all))), "T": typeAttr(out.t)})
	}
}

// present selects the existing ids of the single-id fields.
func (cn columnNodes) present(ids, masks []string, fields []int64) idPart {
	matrix := cn.stack("columns/ids", ids, tfpb.DataType_DT_INT64)
	mask := cn.stack("columns/mask", masks, tfpb.DataType_DT_BOOL)
	where := cn.add("Where", "columns/where", []string{mask}, attrs{})
	taken := cn.add("GatherNd", "columns/taken", []string{matrix, where}, attrs{
		"Tparams": typeAttr(tfpb.DataType_DT_INT64), "Tindices": typeAttr(tfpb.DataType_DT_INT64),
	})
	column := cn.add("StridedSlice", "columns/column", []string{
		where, cn.numbers("columns/column/begin", 0, 1), cn.numbers("columns/column/end", 0, 2), cn.numbers("columns/column/stride", 1, 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32),
		"begin_mask": intAttr(1), "end_mask": intAttr(1), "shrink_axis_mask": intAttr(2),
	})
	field := cn.add("GatherV2", "columns/field", []string{cn.longs("columns/fields", fields), column, cn.number("columns/field/axis", 0)}, attrs{
		"Tparams": typeAttr(tfpb.DataType_DT_INT64), "Tindices": typeAttr(tfpb.DataType_DT_INT64), "Taxis": typeAttr(tfpb.DataType_DT_INT32),
	})
	return idPart{where, taken, cn.filled("columns/ones", taken, 1), field}
}

// single adds the id of a single-id field, without the offset First, and the mask of
// existing ids.
func (cn columnNodes) single(name string, b *graph.BagColumn, p parsedColumns) (id, mask string) {
	switch b.Kind {
	case graph.Buckets:
		return cn.bucketed(name, b, p.numbers[b.Name], p.isWide(b.Name))
	case graph.Vocabulary:
		text := p.texts[b.Name]
		return cn.lookedUp(name, b, text), cn.notEmpty(name, text)
	case graph.Cross:
		var texts []string
		for i, of := range b.Of {
			text := p.texts[of]
			texts = append(texts, text)
			if there := cn.notEmpty(fmt.Sprintf("%s%d/", name, i), text); mask == "" {
				mask = there
			} else {
				mask = cn.add("LogicalAnd", name+"both", []string{mask, there}, attrs{})
			}
		}
		text := cn.add("StringJoin", name+"joined", texts, attrs{"N": intAttr(int64(len(texts))), "separator": stringAttr(graph.CrossSeparator)})
		return cn.hashed(name, b, text), mask
	default:
		text := p.texts[b.Name]
		return cn.hashed(name, b, text), cn.notEmpty(name, text)
	}
}

func (cn columnNodes) notEmpty(name, text string) string {
	return cn.add("NotEqual", name+"there", []string{text, cn.texts(name+"empty", nil, "")}, stringsType())
}

func (cn columnNodes) hashed(name string, b *graph.BagColumn, text string) string {
	return cn.add("StringToHashBucketFast", name+"hash", []string{text}, attrs{"num_buckets": intAttr(int64(b.Size))})
}

// bucketed adds the number of boundaries that are not above a number, which is double if it is wide. Else
// it and the boundaries are float32, as a request has them.
func (cn columnNodes) bucketed(name string, b *graph.BagColumn, x string, wide bool) (id, mask string) {
	missing, boundaries := b.Default, b.Boundaries
	if !wide {
		missing, boundaries = float64(float32(missing)), graph.Narrow(boundaries)
		x = cn.toDouble(name+"double", x)
	}
	isMissing := cn.add("IsNan", name+"missing", []string{x}, doubles())
	x = cn.add("SelectV2", name+"known", []string{isMissing, cn.double(name+"default", missing), x}, doubles())
	x = cn.add("ExpandDims", name+"column", []string{x, cn.number(name+"column/dim", 1)}, doubles())
	reached := cn.add("GreaterEqual", name+"reached", []string{x, cn.doubles(name+"boundaries", boundaries)}, doubles())
	mask = cn.add("LogicalNot", name+"there", []string{isMissing}, attrs{})
	if b.HasDefault {
		mask = cn.add("LogicalOr", name+"always", []string{isMissing, mask}, attrs{})
	}
	ones := cn.cast(name+"ones", reached, tfpb.DataType_DT_BOOL, tfpb.DataType_DT_INT64)
	return cn.add("Sum", name+"bucket", []string{ones, cn.numbers(name+"bucket/axis", 1)}, int64s()), mask
}

// lookedUp adds the index of a text in a vocabulary. The loader fills the lookup table.
func (cn columnNodes) lookedUp(name string, b *graph.BagColumn, text string) string {
	types := attrs{"key_dtype": typeAttr(tfpb.DataType_DT_STRING), "value_dtype": typeAttr(tfpb.DataType_DT_INT64)}
	table := cn.add("HashTableV2", name+"table", nil, attrs{
		"key_dtype": types["key_dtype"], "value_dtype": types["value_dtype"], "shared_name": stringAttr("ringtrain/" + name + "table"),
	})
	places := make([]int64, len(b.Vocabulary))
	for i := range places {
		places[i] = int64(i)
	}
	keyed := attrs{"Tin": types["key_dtype"], "Tout": types["value_dtype"]}
	fill := cn.add("LookupTableImportV2", name+"fill", []string{table, cn.strings(name+"texts", b.Vocabulary...), cn.longs(name+"places", places)}, keyed)
	if cn.tables == "" {
		cn.tables = cn.add("NoOp", "columns/fill_tables", nil, attrs{})
		cn.fill = cn.nodes[len(cn.nodes)-1]
	}
	cn.fill.Input = append(cn.fill.Input, "^"+fill)
	unknown := int64(len(b.Vocabulary))
	if b.Strict {
		unknown = idOutside
	}
	return cn.add("LookupTableFindV2", name+"place", []string{table, text, cn.long(name+"unknown", unknown)}, keyed)
}

// listed adds the ids of a list. It maps an id outside of the column to idOutside, so
// that it cannot become an id of the next field.
func (cn columnNodes) listed(name string, b *graph.BagColumn, field int64, p parsedColumns) idPart {
	ids := p.values[b.Name]
	below := cn.add("Less", name+"below", []string{ids, cn.long(name+"size", int64(b.Size))}, int64s())
	from := cn.add("GreaterEqual", name+"from", []string{ids, cn.long(name+"zero", 0)}, int64s())
	inside := cn.add("LogicalAnd", name+"inside", []string{below, from}, attrs{})
	shifted := cn.plus(name+"shifted", ids, int64(b.First))
	part := idPart{
		indices: p.indices[b.Name],
		ids:     cn.add("SelectV2", name+"id", []string{inside, shifted, cn.long(name+"outside", idOutside)}, int64s()),
		values:  cn.filled(name+"ones", ids, 1),
	}
	if b.Values != "" {
		part.values = cn.agreeing(name+"agree/", part.indices, p.indices[b.Values], p.values[b.Values], tfpb.DataType_DT_FLOAT)
	}
	fields := cn.add("ZerosLike", name+"zeros", []string{ids}, int64s())
	part.fields = cn.plus(name+"field", fields, field)
	return part
}

// plus adds a number to int64s.
func (bu *builder) plus(name, x string, n int64) string {
	return bu.add("AddV2", name, []string{x, bu.long(name+"/first", n)}, int64s())
}

// filled adds a float tensor of one value with the shape of like.
func (bu *builder) filled(name, like string, v float32) string {
	dims := bu.add("Shape", name+"/shape", []string{like}, int64s())
	return bu.add("Fill", name, []string{dims, bu.float(name+"/value", v)}, floats())
}

// exampleCount adds the number of examples as int64.
func (cn columnNodes) exampleCount() string {
	dims := cn.add("Shape", "columns/examples", []string{nodeExample}, attrs{"T": typeAttr(tfpb.DataType_DT_STRING), "out_type": typeAttr(tfpb.DataType_DT_INT64)})
	return cn.add("StridedSlice", "columns/count", []string{
		dims, cn.numbers("columns/count/begin", 0), cn.numbers("columns/count/end", 1), cn.numbers("columns/count/stride", 1),
	}, attrs{"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32), "shrink_axis_mask": intAttr(1)})
}

// long adds an int64 scalar, longs a vector.
func (bu *builder) long(name string, v int64) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(), Int64Val: []int64{v}})
}

func (bu *builder) longs(name string, v []int64) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(int64(len(v))), Int64Val: v})
}

func (bu *builder) double(name string, v float64) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_DOUBLE, TensorShape: shape(), DoubleVal: []float64{v}})
}

// doubles adds a vector of doubles, bools one of truths.
func (bu *builder) doubles(name string, v []float64) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_DOUBLE, TensorShape: shape(int64(len(v))), DoubleVal: v})
}

func (bu *builder) bools(name string, v []bool) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_BOOL, TensorShape: shape(int64(len(v))), BoolVal: v})
}
