package interpreter

import (
	"fmt"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// Limits of a graph. What is beyond them ends a load before it takes memory or time.
const (
	maxNodes   = 1 << 17 // nodes and calls that a program reaches, functions inlined
	maxDepth   = 64      // calls within each other
	maxOutputs = 1 << 12 // inputs or outputs of a node
)

// library is the main graph of a model with its functions.
type library struct {
	main      *body
	functions map[string]*body
	ops       map[string]*op
}

// body is the main graph or a function.
type body struct {
	name     string // empty: the main graph
	nodes    map[string]*tfpb.NodeDef
	args     map[string]int    // numbers of the arguments
	results  []string          // tensors
	ports    map[string]int    // numbers of the results, by name
	controls map[string]string // nodes that a call runs besides
}

func newLibrary(graph *tfpb.GraphDef) (*library, error) {
	l := &library{functions: map[string]*body{}, ops: map[string]*op{}}
	for _, o := range operations() {
		l.ops[o.name] = &o
	}
	var err error
	if l.main, err = newBody("", graph.GetNode()); err != nil {
		return nil, err
	}
	for _, f := range graph.GetLibrary().GetFunction() {
		name := f.GetSignature().GetName()
		b, err := newBody(name, f.GetNodeDef())
		if err != nil {
			return nil, err
		}
		b.controls, b.args, b.ports = f.GetControlRet(), map[string]int{}, map[string]int{}
		for i, a := range f.GetSignature().GetInputArg() {
			b.args[a.GetName()] = i
		}
		for i, a := range f.GetSignature().GetOutputArg() {
			b.ports[a.GetName()] = i
			b.results = append(b.results, f.GetRet()[a.GetName()])
		}
		l.functions[name] = b
	}
	return l, nil
}

func newBody(name string, nodes []*tfpb.NodeDef) (*body, error) {
	b := &body{name: name, nodes: make(map[string]*tfpb.NodeDef, len(nodes))}
	for _, n := range nodes {
		if b.nodes[n.GetName()] != nil {
			return nil, fmt.Errorf("%s: two nodes have this name", phrase.Name(n.GetName()))
		}
		b.nodes[n.GetName()] = n
	}
	return b, nil
}

// called returns the function that a node calls, or nil if it is an operation.
func (l *library) called(n *tfpb.NodeDef) (*body, error) {
	name := n.GetOp()
	if name == "PartitionedCall" || name == "StatefulPartitionedCall" {
		name = n.GetAttr()["f"].GetFunc().GetName()
		if l.functions[name] == nil {
			return nil, fmt.Errorf("%s: no function %s", phrase.Name(n.GetName()), phrase.Name(name))
		}
	}
	return l.functions[name], nil
}
