package interpreter

import (
	"fmt"
	"strconv"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// vertex is a node that a program reaches, with the functions around it inlined.
type vertex struct {
	node
	op   *op // nil: not known here, or an input of the program
	in   []*vertex
	outs []int // the output of each of in
	uses int   // how many nodes and answers take its outputs
	open bool  // what it needs is not complete

	sources []source // of the outputs; of an input of the program from the beginning
}

// output is an output of a vertex.
type output struct {
	vertex *vertex
	number int
}

// scope is one call of a function, or the main graph.
type scope struct {
	body     *body
	path     string // before the names of nodes
	depth    int    // 0: the main graph
	known    map[string]output
	vertices map[string]*vertex
	calls    map[string]*scope
}

func newScope(b *body, path string, depth int) *scope {
	return &scope{body: b, path: path, depth: depth, known: map[string]output{}, vertices: map[string]*vertex{}, calls: map[string]*scope{}}
}

// expansion finds the vertices that a program reaches.
type expansion struct {
	lib     *library
	order   []*vertex // each after what it needs
	fetched []output
	inputs  int // of the program
	work    int // nodes and calls
	edges   int // their inputs, and the results of calls
	chain   int // of those, the ones that are not complete
}

// expand returns what some tensors of the main graph need, and what a node needs, if its name is not
// empty. Feeds are the tensors that the program is given.
func (l *library) expand(feeds, fetches []string, node string) (*expansion, error) {
	main := newScope(l.bodies[""], "", 0)
	e := &expansion{lib: l, inputs: len(feeds)}
	for i, name := range feeds {
		base, number, _ := strings.Cut(name, ":")
		if main.body.nodes[base] == nil {
			return nil, fmt.Errorf("no node %s, which is an input", phrase.Name(base))
		}
		out := output{&vertex{sources: []source{{step: -1, out: i}}}, 0}
		main.known[name] = out
		if number == "" || number == "0" {
			main.known[base], main.known[base+":0"] = out, out
		}
	}
	for _, name := range fetches {
		out, err := e.tensor(main, name)
		if err != nil {
			return nil, err
		}
		out.vertex.uses++
		e.fetched = append(e.fetched, out)
	}
	if node == "" {
		return e, nil
	}
	node, _, _ = strings.Cut(node, ":")
	return e, e.runs(main, []string{node})
}

// begin counts a node or a call with its edges against the limits. The caller takes 1 off chain at its end.
func (e *expansion) begin(edges int) error {
	e.work++
	e.chain++
	e.edges += edges
	if e.work > maxNodes || e.chain > maxChain {
		return fmt.Errorf("more than %d nodes, or %d that need one another", maxNodes, maxChain)
	}
	if e.edges > maxEdges {
		return fmt.Errorf("nodes with more than %d inputs together", maxEdges)
	}
	return nil
}

// tensor returns the output that a name means within a scope: "node" or "node:1" in the main graph, an
// argument or "node:port:1" in a function. The output of a call is one of the function.
func (e *expansion) tensor(s *scope, name string) (out output, err error) {
	if out, ok := s.known[name]; ok {
		return out, nil
	}
	base, _, _ := strings.Cut(name, ":")
	n := s.body.nodes[base]
	if n == nil {
		return out, s.noNode(base)
	}
	if out.number, err = e.number(s, n, name); err != nil {
		return out, err
	}
	callee, err := e.lib.called(n)
	switch {
	case err != nil:
		return out, err
	case callee == nil:
		out.vertex, err = e.vertex(s, n)
	case out.number >= len(callee.results):
		return out, fmt.Errorf("%s: the function has no result %d", phrase.Name(s.path+base), out.number)
	default:
		var child *scope
		if child, err = e.enter(s, n, callee); err == nil {
			out, err = e.tensor(child, callee.results[out.number])
		}
	}
	s.known[name] = out
	return out, err
}

func (s *scope) noNode(name string) error {
	return fmt.Errorf("no node %s, which another needs", phrase.Name(s.path+name))
}

// number returns the number of the output that the name of a tensor means.
func (e *expansion) number(s *scope, n *tfpb.NodeDef, name string) (int, error) {
	parts := strings.Split(name, ":")
	index, err := 0, error(nil)
	if len(parts) > 1 {
		index, err = strconv.Atoi(parts[len(parts)-1])
	}
	if err != nil || index < 0 || index >= maxOutputs {
		return 0, fmt.Errorf("%s is no output", phrase.Name(s.path+name))
	}
	o := e.lib.ops[n.GetOp()]
	if len(parts) < 3 || o == nil {
		return index, nil
	}
	_, before, err := o.outputs(&node{attrs: n.GetAttr()}, parts[1])
	return before + index, err
}

// vertex returns the vertex of a node in a scope, after all that it needs.
func (e *expansion) vertex(s *scope, n *tfpb.NodeDef) (*vertex, error) {
	path := s.path + n.GetName()
	if v := s.vertices[n.GetName()]; v != nil {
		if v.open {
			return nil, fmt.Errorf("%s: needs its own output", phrase.Name(path))
		}
		return v, nil
	}
	if err := e.begin(len(n.GetInput())); err != nil {
		return nil, err
	}
	v := &vertex{node: node{name: path, op: n.GetOp(), attrs: n.GetAttr()}, op: e.lib.ops[n.GetOp()], open: true}
	if v.op == nil && e.lib.unknown[n.GetOp()] == "" {
		e.lib.unknown[n.GetOp()] = path
	}
	s.vertices[n.GetName()] = v
	tensors, before := inputs(n)
	if err := e.runs(s, before); err != nil {
		return nil, err
	}
	for _, name := range tensors {
		in, err := e.tensor(s, name)
		if err != nil {
			return nil, err
		}
		in.vertex.uses++
		v.in, v.outs = append(v.in, in.vertex), append(v.outs, in.number)
	}
	e.chain--
	v.open = false
	e.order = append(e.order, v)
	return v, nil
}

// enter returns the scope of a call, after all that the call needs. The function runs some nodes
// whether or not anything takes their outputs.
func (e *expansion) enter(s *scope, call *tfpb.NodeDef, callee *body) (*scope, error) {
	if child := s.calls[call.GetName()]; child != nil {
		return child, nil
	}
	child := newScope(callee, s.path+call.GetName()+"/", s.depth+1)
	if child.depth > maxDepth {
		return nil, fmt.Errorf("%s: more than %d calls within each other", phrase.Name(child.path), maxDepth)
	}
	if err := e.begin(len(call.GetInput()) + len(callee.controls) + len(callee.results)); err != nil {
		return nil, err
	}
	s.calls[call.GetName()] = child
	tensors, before := inputs(call)
	if len(tensors) != len(callee.args) {
		return nil, fmt.Errorf("%s has %d inputs, its function wants %d", phrase.Name(child.path), len(tensors), len(callee.args))
	}
	if err := e.runs(s, before); err != nil {
		return nil, err
	}
	for i, name := range tensors {
		in, err := e.tensor(s, name)
		if err != nil {
			return nil, err
		}
		child.known[callee.args[i]] = in
	}
	e.chain--
	return child, e.runs(child, callee.controls)
}

// runs reaches nodes such as "^node" for their effects. All results of a call are reached.
func (e *expansion) runs(s *scope, names []string) error {
	for _, name := range names {
		name = strings.TrimPrefix(name, "^")
		n := s.body.nodes[name]
		if _, ok := s.known[name]; ok {
			continue
		}
		if n == nil {
			return s.noNode(name)
		}
		callee, err := e.lib.called(n)
		if err != nil {
			return err
		}
		if callee == nil {
			_, err = e.vertex(s, n)
		} else {
			err = e.results(s, n, callee)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// results reaches all results of a call.
func (e *expansion) results(s *scope, call *tfpb.NodeDef, callee *body) error {
	child, err := e.enter(s, call, callee)
	for _, result := range callee.results {
		if err == nil {
			_, err = e.tensor(child, result)
		}
	}
	return err
}
