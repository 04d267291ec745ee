package interpreter

import (
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// node is an operation that a program reaches, with the functions around it inlined, or an input of the program.
type node struct {
	name  string // with the functions that it was inlined from: model/dense/MatMul
	op    *op    // nil: an input of the program
	attrs map[string]*tfpb.AttrValue
	in    []*node
	outs  []int // the output of each of in
	uses  int   // how many nodes and answers take its outputs

	// The program sets these.
	outputs   int
	bound     any // what bind returned
	fused     fused
	constants []*Tensor // its outputs, if they are the same in each run
	place     int       // among the steps of the program, or among its inputs
}

// output is an output of a node.
type output struct {
	node   *node
	number int
}

// input returns the output that input i is.
func (n *node) input(i int) output { return output{n.in[i], n.outs[i]} }

// constant returns the value of an output that is the same in each run, nil of another.
func (o output) constant() *Tensor {
	if o.node.constants == nil {
		return nil
	}
	return o.node.constants[o.number]
}

// String returns the node as messages have it: its name is a text of others.
func (n *node) String() string { return phrase.Name(n.name) + " (" + n.op.name + ")" }

// typ returns a type attribute, DT_INVALID if the node has none of the name.
func (n *node) typ(name string) tfpb.DataType { return n.attrs[name].GetType() }

// integer returns an integer attribute, or def if the node has none of the name: a graph omits defaults.
func (n *node) integer(name string, def int) int {
	if a, ok := n.attrs[name]; ok {
		return int(a.GetI())
	}
	return def
}

// boolean returns a boolean attribute.
func (n *node) boolean(name string) bool { return n.attrs[name].GetB() }

// text returns a string attribute.
func (n *node) text(name string) string { return string(n.attrs[name].GetS()) }

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
	l := n.attrs[name].GetList()
	return max(int(n.attrs[name].GetI()), len(l.GetType()), len(l.GetS()), len(l.GetI()), len(l.GetShape()))
}
