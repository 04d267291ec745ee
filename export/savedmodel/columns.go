package savedmodel

import (
	"fmt"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// The nodes of the pass-through column. The output is a node of its own, because no node
// can be fed and fetched at once.
const (
	nodeKey    = "key" // [n]
	nodeKeyOut = "key_out"
)

// columnNodes adds the nodes that make inputs from the columns of raw records.
type columnNodes struct{ *builder }

// columns adds the inputs of a model from the columns of raw records, as package
// input/column makes them. In an example a number is a float list of one element, a text
// a bytes list of one element, texts of a list one of any length, ids an int64 list and their values a float list. A column
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
		cn.bagColumns(c, p)
	}
	for i, name := range c.Keys {
		in, out := keyNodes(i)
		key := p.raw[name]
		if c.Trim {
			key = cn.add("StringStrip", in+"/trimmed", []string{key}, attrs{})
		}
		cn.add("Identity", in, []string{key}, stringsType())
		cn.add("Identity", out, []string{in}, stringsType())
	}
}

// bagColumns adds the ids of all fields, with their values, fields and rows.
func (cn columnNodes) bagColumns(c *graph.Columns, p parsedColumns) {
	n := cn.exampleCount()
	var ids, masks []string
	var fields []int64
	var parts []idPart
	for k := range c.Bags {
		b, field := &c.Bags[k], int64(k)
		name := fmt.Sprintf("columns/field_%d/", k)
		switch {
		case b.Kind == graph.IDs:
			parts = append(parts, cn.listed(name, b, field, p))
		case b.List:
			parts = append(parts, cn.textList(name, b, field, p, c))
		case b.Kind == graph.Words:
			parts = append(parts, cn.words(name, b, field, p.texts[b.Name], n))
		default:
			id, mask := cn.single(name, b, p)
			ids, masks, fields = append(ids, cn.plus(name+"id", id, int64(b.First))), append(masks, mask), append(fields, field)
		}
	}
	if len(ids) > 0 {
		parts = append(parts, cn.present(ids, masks, fields))
	}
	cn.joined(parts)
	places := cn.long("columns/places", int64(len(c.Bags)))
	cn.add("Pack", nodeShape, []string{n, places}, attrs{"N": intAttr(2), "T": typeAttr(tfpb.DataType_DT_INT64)})
	cn.batchSize()
	cn.rowsAndColumn()
	if len(c.Bags) > 1 {
		cn.bags(len(c.Bags))
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
	taken := cn.gathered("columns/taken", matrix, where, tfpb.DataType_DT_INT64)
	column := cn.columnOf("columns/column", where, 1)
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
	case graph.Month, graph.Weekday, graph.Day, graph.Hour:
		date := p.dates[b.Name]
		return date.parts[string(b.Kind)], cn.add("LogicalNot", name+"there", []string{date.missing}, attrs{})
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

// exampleCount adds the number of examples as int64.
func (cn columnNodes) exampleCount() string {
	dims := cn.add("Shape", "columns/examples", []string{nodeExample}, attrs{"T": typeAttr(tfpb.DataType_DT_STRING), "out_type": typeAttr(tfpb.DataType_DT_INT64)})
	return cn.add("StridedSlice", "columns/count", []string{
		dims, cn.numbers("columns/count/begin", 0), cn.numbers("columns/count/end", 1), cn.numbers("columns/count/stride", 1),
	}, attrs{"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32), "shrink_axis_mask": intAttr(1)})
}
