package interpreter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// Limits of a graph. Open refuses a graph beyond them before it takes memory or time.
const (
	maxNodes   = 1 << 17 // nodes and calls that a program reaches, functions inlined
	maxEdges   = 1 << 20 // inputs of those nodes, and their outputs
	maxChain   = 1 << 15 // nodes that need one another
	maxDepth   = 64      // calls within each other
	maxOutputs = 1 << 12 // outputs of a node

	maxSignatures = 1 << 8
)

// library is the main graph of a model with its functions, by name; the main graph has none.
type library struct {
	bodies  map[string]*body
	ops     map[string]*op
	unknown map[string]string // operations that programs reach, with a node each
}

// body is the main graph or a function.
type body struct {
	nodes    map[string]*tfpb.NodeDef
	args     []string
	results  []string // tensors
	controls []string // nodes that a call runs besides
}

func newLibrary(graph *tfpb.GraphDef) (*library, error) {
	l := &library{bodies: map[string]*body{}, ops: map[string]*op{}, unknown: map[string]string{}}
	for _, o := range operations() {
		l.ops[o.name] = &o
	}
	for _, f := range graph.GetLibrary().GetFunction() {
		b, err := l.add(f.GetSignature().GetName(), f.GetNodeDef())
		if err != nil {
			return nil, err
		}
		b.controls = slices.Sorted(maps.Values(f.GetControlRet()))
		for _, a := range f.GetSignature().GetInputArg() {
			b.args = append(b.args, a.GetName())
		}
		for _, a := range f.GetSignature().GetOutputArg() {
			b.results = append(b.results, f.GetRet()[a.GetName()])
		}
	}
	_, err := l.add("", graph.GetNode())
	return l, err
}

func (l *library) add(name string, nodes []*tfpb.NodeDef) (*body, error) {
	b := &body{nodes: make(map[string]*tfpb.NodeDef, len(nodes))}
	for _, n := range nodes {
		if b.nodes[n.GetName()] != nil {
			return nil, fmt.Errorf("%s: two nodes have this name", phrase.Name(n.GetName()))
		}
		b.nodes[n.GetName()] = n
	}
	l.bodies[name] = b
	return b, nil
}

// called returns the function that a node calls, or nil if it is an operation.
func (l *library) called(n *tfpb.NodeDef) (*body, error) {
	if n.GetOp() != "PartitionedCall" && n.GetOp() != "StatefulPartitionedCall" {
		return nil, nil
	}
	name := n.GetAttr()["f"].GetFunc().GetName()
	if name == "" || l.bodies[name] == nil {
		return nil, fmt.Errorf("%s: no function %s", phrase.Name(n.GetName()), phrase.Name(name))
	}
	return l.bodies[name], nil
}

// inputs returns the tensors that a node takes, and the nodes that must have run before. Their names
// begin with a circumflex and come last.
func inputs(n *tfpb.NodeDef) (tensors, before []string) {
	all := n.GetInput()
	k := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "^") })
	if k < 0 {
		return all, nil
	}
	return all[:k], all[k:]
}

// refuse returns an error that names all operations that are not known, with a node each.
func (l *library) refuse() error {
	if len(l.unknown) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(l.unknown))
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", phrase.Name(name), phrase.Name(l.unknown[name]))
	}
	return errors.New("ops not known here: " + strings.Join(names, ", "))
}
