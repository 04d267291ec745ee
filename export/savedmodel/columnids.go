package savedmodel

import (
	"math"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// idOutside is an id outside of every table. A lookup of it fails the whole request.
const idOutside = math.MaxInt32

// listed adds the ids of a list. It maps an id outside of the column to idOutside, so
// that it cannot become an id of the next field.
func (cn columnNodes) listed(name string, b *graph.BagColumn, field int64, p parsedColumns) idPart {
	ids := p.values[b.Name]
	below := cn.add("Less", name+"below", []string{ids, cn.long(name+"size", int64(b.Size))}, int64s())
	from := cn.add("GreaterEqual", name+"from", []string{ids, cn.long(name+"zero", 0)}, int64s())
	inside := cn.add("LogicalAnd", name+"inside", []string{below, from}, attrs{})
	shifted := cn.plus(name+"shifted", ids, int64(b.First))
	ids = cn.add("SelectV2", name+"id", []string{inside, shifted, cn.long(name+"outside", idOutside)}, int64s())
	part := cn.part(name, p.indices[b.Name], ids, field)
	if b.Values != "" {
		part.values = cn.agreeing(name+"agree/", part.indices, p.indices[b.Values], p.values[b.Values], tfpb.DataType_DT_FLOAT)
	}
	return part
}

// agreeing adds values, which fails unless each example has as many values as ids. The arguments are
// outputs of ParseExample for ids and values.
func (bu *builder) agreeing(name, ids, valueIndices, values string, t tfpb.DataType) string {
	said := bu.texts(name+"said", nil, "ids and values of an example differ in number")
	assert := func(part, x, y string, axes ...int32) string {
		equal := bu.add("Equal", name+part, []string{x, y}, int64s())
		all := bu.add("All", name+part+"/all", []string{equal, bu.numbers(name+part+"/axes", axes...)}, attrs{})
		return "^" + bu.add("Assert", name+part+"/assert", []string{all, said}, attrs{"T": typesAttr(tfpb.DataType_DT_STRING)})
	}
	size := func(part, indices string) string {
		return bu.add("Shape", name+part, []string{indices}, attrs{"T": typeAttr(tfpb.DataType_DT_INT64), "out_type": typeAttr(tfpb.DataType_DT_INT64)})
	}
	inAll := assert("sizes", size("ids_size", ids), size("values_size", valueIndices), 0)
	ids = bu.add("Identity", name+"ids_indices", []string{ids, inAll}, int64s()) // of unequal shapes Equal does not say why
	inEach := assert("indices", ids, valueIndices, 0, 1)
	return bu.add("Identity", name+"values", []string{values, inEach}, attrs{"T": typeAttr(t)})
}
