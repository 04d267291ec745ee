package interpreter

import (
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// node is an operation in a graph, as the graph describes it.
type node struct {
	name  string // with the functions that it was inlined from: model/dense/MatMul
	op    string
	attrs map[string]*tfpb.AttrValue
}

// String returns the node as messages have it: its name is a text of others.
func (n *node) String() string { return phrase.Name(n.name) + " (" + n.op + ")" }

// typ returns a type attribute, DT_INVALID if the node has none of the name.
func (n *node) typ(name string) tfpb.DataType { return n.attrs[name].GetType() }

// integer returns an integer attribute, or def if the node has none of the name: a graph omits defaults.
func (n *node) integer(name string, def int) int {
	if a, ok := n.attrs[name]; ok {
		return int(a.GetI())
	}
	return def
}

// boolean returns a boolean attribute, or def.
func (n *node) boolean(name string, def bool) bool {
	if a, ok := n.attrs[name]; ok {
		return a.GetB()
	}
	return def
}

// text returns a string attribute, or def.
func (n *node) text(name, def string) string {
	if a, ok := n.attrs[name]; ok {
		return string(a.GetS())
	}
	return def
}

// float returns a number attribute, or def.
func (n *node) float(name string, def float32) float32 {
	if a, ok := n.attrs[name]; ok {
		return a.GetF()
	}
	return def
}

// integers returns a list of integers.
func (n *node) integers(name string) []int64 { return n.attrs[name].GetList().GetI() }

// length returns an integer attribute, or the length of a list.
func (n *node) length(name string) int {
	switch v := n.attrs[name].GetValue().(type) {
	case *tfpb.AttrValue_I:
		return int(v.I)
	case *tfpb.AttrValue_List:
		l := v.List
		return max(len(l.GetType()), len(l.GetS()), len(l.GetI()), len(l.GetShape()))
	}
	return 0
}
