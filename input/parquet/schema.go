package parquet

import (
	"errors"
	"fmt"
	"strings"
)

// Physical types.
const (
	typeBoolean = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeBytes
	typeFixed
	types
)

// Repetitions of an element.
const (
	required = iota
	optional
	repeated
)

// element is a node of the schema: a group with children, or a leaf with a type.
type element struct {
	name       string
	physical   int64 // −1: a group
	length     int64 // of typeFixed
	repetition int64
	children   int64
	converted  int64 // −1: none
	scale      int64
	logical    int64 // field of Thrift's union of types; 0: none
	unit       int64 // of times: field of Thrift's union of units
	utc        bool
	bits       int64 // of integers
	unsigned   bool
}

// Logical types: fields of Thrift's union.
const (
	logicalMap     = 2
	logicalList    = 3
	logicalDecimal = 5
	logicalDate    = 6
	logicalTime    = 7
	logicalStamp   = 8
	logicalInteger = 10
	logicalNull    = 11
	logicalUUID    = 14
	logicalFloat16 = 15
)

// Units of times: fields of Thrift's union.
const (
	unitMilli = 1
	unitMicro = 2
	unitNano  = 3
)

func readElement(c *compact) element {
	e := element{physical: -1, converted: -1}
	c.fields(func(id int64, kind byte) bool {
		switch to := map[int64]*int64{1: &e.physical, 2: &e.length, 3: &e.repetition, 5: &e.children, 6: &e.converted, 7: &e.scale}[id]; {
		case to != nil:
			return c.number(to, kind)
		case id == 4 && kind == thriftBinary:
			e.name = c.text()
		case id == 10 && kind == thriftStruct:
			c.fields(func(id int64, kind byte) bool { return e.readLogical(c, id, kind) })
		default:
			return false
		}
		return true
	})
	e.fromConverted()
	return e
}

// readLogical reads the logical type with a number.
func (e *element) readLogical(c *compact, logical int64, kind byte) bool {
	e.logical = logical
	if kind != thriftStruct {
		return false
	}
	c.fields(func(id int64, kind byte) bool {
		switch {
		case logical == logicalDecimal && id == 1 && kind == 5:
			e.scale = c.int()
		case logical == logicalInteger && id == 1 && kind == thriftByte:
			e.bits = int64(c.byte())
		case logical == logicalInteger && id == 2:
			e.unsigned = kind == thriftFalse
			return false
		case (logical == logicalTime || logical == logicalStamp) && id == 1:
			e.utc = kind == thriftTrue
			return false
		case (logical == logicalTime || logical == logicalStamp) && id == 2 && kind == thriftStruct:
			c.fields(func(id int64, kind byte) bool { e.unit = id; return false })
		default:
			return false
		}
		return true
	})
	return true
}

// fromConverted sets the logical type where only the older, converted type says it.
func (e *element) fromConverted() {
	if e.logical != 0 || e.converted < 0 {
		return
	}
	old := map[int64]element{
		1: {logical: logicalMap}, 2: {logical: logicalMap}, 3: {logical: logicalList}, 5: {logical: logicalDecimal}, 6: {logical: logicalDate},
		7: {logical: logicalTime, unit: unitMilli, utc: true}, 8: {logical: logicalTime, unit: unitMicro, utc: true},
		9: {logical: logicalStamp, unit: unitMilli, utc: true}, 10: {logical: logicalStamp, unit: unitMicro, utc: true},
		11: {logical: logicalInteger, unsigned: true}, 12: {logical: logicalInteger, unsigned: true}, 13: {logical: logicalInteger, unsigned: true}, 14: {logical: logicalInteger, unsigned: true},
	}[e.converted]
	e.logical, e.unit, e.utc, e.unsigned = old.logical, old.unit, old.utc, old.unsigned
}

// A Column is a leaf of the schema: a column of records, a field a.b of structs, or a list.
type Column struct {
	Name  string
	Kind  Kind
	List  bool
	Fault error // why it cannot be read; nil: it can

	element
	leaf       int  // number of its chunk
	digits     bool // a boolean is written as 0 or 1
	days       bool // a timestamp is written without its time
	definition int  // level of a value that is there
}

// schemaDepth bounds groups in one another.
const schemaDepth = 64

// tree reads the schema from its elements.
type tree struct {
	elements []element
	at       int
	leaves   int
	names    int // bytes of all names, each of which has those of the groups above it
	columns  []Column
}

// columnsOf returns the columns of a schema, and the number of its leaves.
func columnsOf(elements []element) ([]Column, int, error) {
	t := &tree{elements: elements}
	if len(elements) == 0 {
		return nil, 0, errors.New("footer: it has no schema")
	}
	t.at = 1
	for range elements[0].children {
		if err := t.node("", 0, 0, false); err != nil {
			return nil, 0, err
		}
	}
	if t.at < len(elements) {
		return nil, 0, fmt.Errorf("footer: its schema has %d elements, and names %d", len(elements), t.at)
	}
	t.refuseTwins()
	return t.columns, t.leaves, nil
}

// refuseTwins has no column read whose name another one has, too.
func (t *tree) refuseTwins() {
	first := make(map[string]int)
	for i := range t.columns {
		if k, is := first[t.columns[i].Name]; is {
			t.columns[k].Fault = errors.New("is there twice, want one column of this name")
			t.columns[i].Fault = t.columns[k].Fault
		} else {
			first[t.columns[i].Name] = i
		}
	}
}

// node reads a node below the path with its descendants. depth and definition are those of its parent. hidden says that
// a group above it is a column.
func (t *tree) node(path string, depth, definition int, hidden bool) error {
	if t.at == len(t.elements) || depth > schemaDepth {
		return errors.New("footer: its schema is none: more children than elements, or too deep")
	}
	e := t.elements[t.at]
	t.at++
	if t.names += len(path) + len(e.name); t.names > maxNames {
		return fmt.Errorf("footer: the names of its schema, each with those of the groups above it, have more than %d bytes", maxNames)
	}
	name := strings.TrimPrefix(path+"."+e.name, ".")
	if e.repetition != required {
		definition++
	}
	c := Column{Name: name, element: e, leaf: t.leaves, definition: definition}
	switch {
	case e.physical >= 0 && e.children == 0:
		t.leaves++
		c.List = e.repetition == repeated
		c.settle()
	case e.logical == logicalMap:
		c.Fault = errors.New("is a map, want a column of values, or lists of them")
	case e.logical == logicalList && t.isList(e):
		return t.list(c, depth, hidden)
	case e.repetition == repeated:
		c.Fault = errors.New("is a list of structs, want a column of values, or lists of them")
	default:
		for range e.children {
			if err := t.node(name, depth+1, definition, hidden); err != nil {
				return err
			}
		}
		return nil
	}
	if !hidden {
		t.columns = append(t.columns, c)
	}
	for range e.children {
		if err := t.node(name, depth+1, definition, true); err != nil {
			return err
		}
	}
	return nil
}

// isList reports whether the group is one of a list: it has one child, which repeats.
func (t *tree) isList(e element) bool {
	return e.children == 1 && t.at < len(t.elements) && t.elements[t.at].repetition == repeated
}

// list reads a list: of two levels, where its values repeat, or of three, where a group repeats that has a value.
func (t *tree) list(c Column, depth int, hidden bool) error {
	item, definition := t.elements[t.at], c.definition+1
	if item.physical < 0 && item.children == 1 && t.at+1 < len(t.elements) {
		t.at++
		if item = t.elements[t.at]; item.repetition != required {
			definition++
		}
	}
	switch {
	case c.repetition == repeated, item.logical == logicalList, item.physical >= 0 && item.repetition == repeated && t.elements[t.at-1].repetition == repeated:
		c.Fault = errors.New("is a list of lists, want lists of values")
	case item.logical == logicalMap:
		c.Fault = errors.New("is a list of maps, want lists of values")
	case item.physical < 0:
		c.Fault = errors.New("is a list of structs, want lists of values")
	default:
		c.element, c.leaf, c.definition, c.List = item, t.leaves, definition, true
		c.settle()
	}
	if !hidden {
		t.columns = append(t.columns, c)
	}
	return t.node(c.Name, depth+2, definition, true)
}
