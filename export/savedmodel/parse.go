package savedmodel

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// uses are the ways in which a graph reads a column.
type uses uint8

const (
	asNumber uses = 1 << iota
	asText
	asIDs
	asValues // of ids
)

func (u uses) String() string {
	var all []string
	for i, name := range []string{"number", "text", "ids", "values of ids"} {
		if u&(1<<i) != 0 {
			all = append(all, name)
		}
	}
	return strings.Join(all, " and ")
}

// usesOf returns the names of the columns that c reads, each once, and how it reads them.
func usesOf(c *graph.Columns) (names []string, all map[string]uses) {
	all = map[string]uses{}
	use := func(name string, u uses) {
		if all[name] == 0 {
			names = append(names, name)
		}
		all[name] |= u
	}
	for _, d := range c.Dense {
		use(d.Name, asNumber)
	}
	for _, b := range c.Bags {
		switch b.Kind {
		case graph.Buckets:
			use(b.Name, asNumber)
		case graph.Cross:
			for _, of := range b.Of {
				use(of, asText)
			}
		case graph.IDs:
			use(b.Name, asIDs)
			if b.Values != "" {
				use(b.Values, asValues)
			}
		default:
			use(b.Name, asText)
		}
	}
	if c.Key != "" {
		use(c.Key, asText)
	}
	return names, all
}

// CheckColumns returns an error with exitcode.Usage if c, which may be nil, reads a column in two ways
// that an export cannot: TensorFlow parses a feature once, to a list of one type.
func CheckColumns(c *graph.Columns) error {
	if c == nil {
		return nil
	}
	var errs []error
	names, all := usesOf(c)
	for _, name := range names {
		switch u := all[name]; u {
		case asNumber, asText, asNumber | asText, asIDs, asValues:
		default:
			errs = append(errs, fmt.Errorf("input.columns reads %s as %s, want one of them: an export parses a column once", name, u))
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// parsedColumns has the outputs of ParseExample by column name.
type parsedColumns struct {
	numbers map[string]string // [n]: float, or double of a column that is also a text
	texts   map[string]string // [n]
	indices map[string]string // of lists: [nnz, 2]
	values  map[string]string // of lists: [nnz]
}

// isWide reports whether the numbers of a column are made of texts: they are double.
func (p parsedColumns) isWide(name string) bool { return p.texts[name] != "" }

// parsedColumns adds the node that parses examples: lists first, then numbers, then texts. A column that
// is read as a number and as a text is parsed as a text.
func (g *builder) parsedColumns(c *graph.Columns) parsedColumns {
	if CheckColumns(c) != nil {
		panic("savedmodel: columns that cannot be parsed")
	}
	var lists, numbers, texts []string
	var listTypes []tfpb.DataType
	names, all := usesOf(c)
	for _, name := range names {
		switch u := all[name]; {
		case u == asIDs:
			lists, listTypes = append(lists, name), append(listTypes, tfpb.DataType_DT_INT64)
		case u == asValues:
			lists, listTypes = append(lists, name), append(listTypes, tfpb.DataType_DT_FLOAT)
		case u == asNumber:
			numbers = append(numbers, name)
		default:
			texts = append(texts, name)
		}
	}
	inputs := g.examples()
	inputs = append(inputs, g.parseKeys("sparse", lists)...)
	inputs = append(inputs, g.parseKeys("dense", append(numbers[:len(numbers):len(numbers)], texts...))...)
	types, shapes := typesAttr(), &tfpb.AttrValue_ListValue{}
	list := types.GetList()
	if len(numbers) > 0 {
		missing := g.float("ParseExample/missing_number", float32(math.NaN()))
		for range numbers {
			inputs, list.Type, shapes.Shape = append(inputs, missing), append(list.Type, tfpb.DataType_DT_FLOAT), append(shapes.Shape, shape())
		}
	}
	if len(texts) > 0 {
		missing := g.texts("ParseExample/missing_text", nil, "")
		for range texts {
			inputs, list.Type, shapes.Shape = append(inputs, missing), append(list.Type, tfpb.DataType_DT_STRING), append(shapes.Shape, shape())
		}
	}
	g.add("ParseExample", parse, inputs, attrs{
		"Nsparse": intAttr(int64(len(lists))), "Ndense": intAttr(int64(len(numbers) + len(texts))),
		"sparse_types": typesAttr(listTypes...), "Tdense": types, "dense_shapes": listAttr(shapes),
	})
	p := parsedColumns{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	for i, name := range lists {
		p.indices[name], p.values[name] = output(parse, i), output(parse, len(lists)+i)
	}
	at := 3 * len(lists)
	for i, name := range numbers {
		p.numbers[name] = output(parse, at+i)
	}
	for i, name := range texts {
		p.texts[name] = output(parse, at+len(numbers)+i)
		if all[name]&asNumber != 0 {
			p.numbers[name] = g.numberOf(fmt.Sprintf("columns/number_%d/", i), p.texts[name])
		}
	}
	return p
}

// parseKeys adds the names of features that ParseExample is to find, sparse or dense ones.
func (g *builder) parseKeys(kind string, names []string) (keys []string) {
	if g.parsing == nil {
		g.parsing = map[string]bool{}
	}
	for i, name := range names {
		if g.parsing[name] {
			panic("savedmodel: ParseExample has a key twice")
		}
		g.parsing[name] = true
		keys = append(keys, g.texts(fmt.Sprintf("%s/%s_keys_%d", parse, kind, i), nil, name))
	}
	return keys
}

// numberOf adds the number that a text is, NaN for an empty one.
func (g *builder) numberOf(name, text string) string {
	isMissing := g.add("Equal", name+"missing", []string{text, g.texts(name+"empty", nil, "")}, stringsType())
	text = g.add("SelectV2", name+"text", []string{isMissing, g.texts(name+"zero", nil, "0"), text}, stringsType())
	x := g.add("StringToNumber", name+"parsed", []string{text}, attrs{"out_type": typeAttr(tfpb.DataType_DT_DOUBLE)})
	return g.add("SelectV2", name+"number", []string{isMissing, g.double(name+"none", math.NaN()), x}, doubles())
}

// agreeing adds values, which fails unless each example has as many values as ids. The arguments are
// outputs of ParseExample for ids and values.
func (g *builder) agreeing(name, ids, valueIndices, values string, t tfpb.DataType) string {
	said := g.texts(name+"said", nil, "ids and values of an example differ in number")
	assert := func(part, x, y string, axes ...int32) string {
		equal := g.add("Equal", name+part, []string{x, y}, int64s())
		all := g.add("All", name+part+"/all", []string{equal, g.numbers(name+part+"/axes", axes...)}, attrs{})
		return "^" + g.add("Assert", name+part+"/assert", []string{all, said}, attrs{"T": typesAttr(tfpb.DataType_DT_STRING)})
	}
	size := func(part, indices string) string {
		return g.add("Shape", name+part, []string{indices}, attrs{"T": typeAttr(tfpb.DataType_DT_INT64), "out_type": typeAttr(tfpb.DataType_DT_INT64)})
	}
	inAll := assert("sizes", size("ids_size", ids), size("values_size", valueIndices), 0)
	ids = g.add("Identity", name+"ids_indices", []string{ids, inAll}, int64s()) // of unequal shapes Equal does not say why
	inEach := assert("indices", ids, valueIndices, 0, 1)
	return g.add("Identity", name+"values", []string{values, inEach}, attrs{"T": typeAttr(t)})
}
