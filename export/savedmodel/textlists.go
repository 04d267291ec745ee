package savedmodel

import (
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// texts is a sequence of texts: indices [m, 2], of which the first is the row, and the texts [m].
type texts struct{ indices, texts string }

// textList adds an id for each text of a list, missing ones apart.
func (cn columnNodes) textList(name string, b *graph.BagColumn, field int64, p parsedColumns, c *graph.Columns) idPart {
	all := texts{p.indices[b.Name], p.values[b.Name]}
	if b.Separator != "" {
		all = cn.split(name+"split", all.indices, all.texts, b.Separator)
		all.texts = cn.textOf(name+"piece/", all.texts, &graph.Columns{Trim: true, TextWords: c.TextWords})
	}
	there := cn.notEmpty(name, all.texts)
	which := cn.add("Where", name+"which", []string{there}, attrs{})
	all = texts{cn.gathered(name+"indices", all.indices, which, tfpb.DataType_DT_INT64), cn.gathered(name+"texts", all.texts, which, tfpb.DataType_DT_STRING)}
	var id string
	if b.Kind == graph.Vocabulary {
		id = cn.lookedUp(name, b, all.texts)
	} else {
		id = cn.hashed(name, b, all.texts)
	}
	return cn.part(name, all.indices, cn.plus(name+"id", id, int64(b.First)), field)
}

// split cuts each of texts at a separator, at blanks if it is empty.
func (cn columnNodes) split(name, indices, of, separator string) texts {
	split := cn.add("StringSplitV2", name, []string{of, cn.texts(name+"/separator", nil, separator)}, attrs{})
	element := cn.columnOf(name+"/element", split, 0)
	rows := cn.add("GatherV2", name+"/indices", []string{indices, element, cn.number(name+"/indices/axis", 0)}, attrs{
		"Tparams": typeAttr(tfpb.DataType_DT_INT64), "Tindices": typeAttr(tfpb.DataType_DT_INT64), "Taxis": typeAttr(tfpb.DataType_DT_INT32),
	})
	return texts{rows, output(split, 1)}
}

// gathered adds the elements of x whose places are the rows of which [k, 1].
func (bu *builder) gathered(name, x, which string, t tfpb.DataType) string {
	return bu.add("GatherNd", name, []string{x, which}, attrs{"Tparams": typeAttr(t), "Tindices": typeAttr(tfpb.DataType_DT_INT64)})
}

// part is that of ids of one field, each with the value 1.
func (bu *builder) part(name, indices, ids string, field int64) idPart {
	zeros := bu.add("ZerosLike", name+"zeros", []string{ids}, int64s())
	return idPart{indices: indices, ids: ids, values: bu.filled(name+"ones", ids, 1), fields: bu.plus(name+"field", zeros, field)}
}

// columnOf adds column at of int64s x [m, 2].
func (bu *builder) columnOf(name, x string, at int32) string {
	return bu.add("StridedSlice", name, []string{
		x, bu.numbers(name+"/begin", 0, at), bu.numbers(name+"/end", 0, at+1), bu.numbers(name+"/stride", 1, 1),
	}, attrs{
		"T": typeAttr(tfpb.DataType_DT_INT64), "Index": typeAttr(tfpb.DataType_DT_INT32),
		"begin_mask": intAttr(1), "end_mask": intAttr(1), "shrink_axis_mask": intAttr(2),
	})
}
