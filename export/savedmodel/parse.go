package savedmodel

import (
	"errors"
	"fmt"
	"math"
	"slices"
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
	asTexts  // a list of them
	asSeconds
)

func (u uses) String() string {
	var all []string
	for i, name := range []string{"number", "text", "ids", "values of ids", "list of texts", "time"} {
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
	for _, d := range c.Dates {
		if isUnix(d) {
			use(d.Name, asSeconds)
		} else {
			use(d.Name, asText)
		}
	}
	for _, d := range c.Dense {
		if d.Part == "" {
			use(d.Name, asNumber)
		}
	}
	for _, b := range c.Bags {
		switch b.Kind {
		case graph.Month, graph.Weekday, graph.Day, graph.Hour: // of Dates
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
			if b.List {
				use(b.Name, asTexts)
			} else {
				use(b.Name, asText)
			}
		}
	}
	for _, name := range c.Keys {
		use(name, asText)
	}
	return names, all
}

// isUnix reports whether dates are numbers.
func isUnix(d graph.DateColumn) bool { return d.Layout == graph.Unix || d.Layout == graph.UnixMilli }

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
		case asNumber, asText, asNumber | asText, asIDs, asValues, asTexts, asSeconds, asSeconds | asText:
		default:
			errs = append(errs, fmt.Errorf("input.columns reads %s as %s, want one of them: an export parses a column once", name, u))
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// parsedColumns has the outputs of ParseExample by column name.
type parsedColumns struct {
	numbers map[string]string // [n]: float, or double of a column that is also a text
	texts   map[string]string // [n], empty where one is missing
	raw     map[string]string // [n]: texts as they are
	indices map[string]string // of lists: [nnz, 2]
	values  map[string]string // of lists: [nnz]; texts are empty where one is missing
	dates   map[string]dateNodes
}

// isWide reports whether the numbers of a column are made of texts: they are double.
func (p parsedColumns) isWide(name string) bool { return p.texts[name] != "" }

// parsedColumns adds the node that parses examples: lists first, then numbers, then texts. A column that
// is read as a number and as a text is parsed as a text.
func (cn columnNodes) parsedColumns(c *graph.Columns) parsedColumns {
	if CheckColumns(c) != nil {
		panic("savedmodel: columns that cannot be parsed")
	}
	var lists, numbers, seconds, texts []feature
	names, all := usesOf(c)
	for _, name := range names {
		switch u := all[name]; {
		case u == asIDs:
			lists = append(lists, feature{name: name, t: tfpb.DataType_DT_INT64})
		case u == asValues:
			lists = append(lists, feature{name: name, t: tfpb.DataType_DT_FLOAT})
		case u == asTexts:
			lists = append(lists, feature{name: name, t: tfpb.DataType_DT_STRING})
		case u == asNumber:
			if numbers == nil {
				cn.float("ParseExample/missing_number", float32(math.NaN()))
			}
			numbers = append(numbers, feature{name, tfpb.DataType_DT_FLOAT, "ParseExample/missing_number", shape()})
		case u == asSeconds:
			if seconds == nil {
				cn.long("ParseExample/missing_seconds", math.MinInt64)
			}
			seconds = append(seconds, feature{name, tfpb.DataType_DT_INT64, "ParseExample/missing_seconds", shape()})
		default:
			if texts == nil {
				cn.texts("ParseExample/missing_text", nil, "")
			}
			texts = append(texts, feature{name, tfpb.DataType_DT_STRING, "ParseExample/missing_text", shape()})
		}
	}
	cn.parse(lists, slices.Concat(numbers, seconds, texts))
	p := parsedColumns{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, map[string]dateNodes{}}
	for i, f := range lists {
		p.indices[f.name], p.values[f.name] = output(parse, i), output(parse, len(lists)+i)
		if f.t == tfpb.DataType_DT_STRING {
			p.values[f.name] = cn.textOf(fmt.Sprintf("columns/list_%d/", i), p.values[f.name], c)
		}
	}
	at := 3 * len(lists)
	for i, f := range numbers {
		p.numbers[f.name] = cn.known(fmt.Sprintf("columns/known_%d/", i), output(parse, at+i), c.NumberWords)
	}
	at += len(numbers)
	longs := map[string]string{}
	for i, f := range seconds {
		longs[f.name] = output(parse, at+i)
	}
	for i, f := range texts {
		raw := output(parse, at+len(seconds)+i)
		p.raw[f.name], p.texts[f.name] = raw, cn.textOf(fmt.Sprintf("columns/text_%d/", i), raw, c)
		if all[f.name]&asNumber != 0 {
			p.numbers[f.name] = cn.numberOf(fmt.Sprintf("columns/number_%d/", i), raw, f.name, c)
		}
	}
	for i, d := range c.Dates {
		p.dates[d.Name] = cn.dates(fmt.Sprintf("columns/date_%d/", i), d, p.raw[d.Name], longs[d.Name], c.NumberWords)
	}
	return p
}
