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

	sources []source // of the outputs; of an input of the program from the beginning
}

// output is an output of a vertex.
type output struct {
	vertex *vertex
	number int
}

// scope is the main graph, or a node of another scope: a call, with the nodes of its function, or a vertex.
type scope struct {
	vertex *vertex // nil: a call
	open   bool    // what it needs is not complete
	whole  bool    // all results of the call are reached

	body    *body
	path    string // before the names of nodes
	depth   int    // 0: the main graph
	known   map[string]output
	reached map[string]*scope
}

func newScope(b *body, path string, depth int) *scope {
	return &scope{body: b, path: path, depth: depth, known: map[string]output{}, reached: map[string]*scope{}}
}

// expansion finds the vertices that a program reaches.
type expansion struct {
	lib     *library
	order   []*vertex // each after what it needs
	fetched []output
	inputs  int // of the program
	work    int // nodes and calls
	edges   int // their inputs, and what calls run and return
	chain   int // of those nodes and calls, the ones that are not complete
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
	r, err := e.reach(s, base)
	if err == nil {
		out.number, err = e.number(s, s.body.nodes[base], name)
	}
	switch {
	case err != nil:
		return out, err
	case r.vertex != nil:
		out.vertex = r.vertex
	case out.number >= len(r.body.results):
		return out, fmt.Errorf("%s: the function has no result %d", phrase.Name(s.path+base), out.number)
	default:
		out, err = e.tensor(r, r.body.results[out.number])
	}
	s.known[name] = out
	return out, err
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

// reach returns what a node of a scope is, after all that it needs.
func (e *expansion) reach(s *scope, name string) (*scope, error) {
	path := s.path + name
	r, n := s.reached[name], s.body.nodes[name]
	switch {
	case n == nil:
		return nil, fmt.Errorf("no node %s, which another needs", phrase.Name(path))
	case r != nil && r.open:
		return nil, fmt.Errorf("%s: needs its own output", phrase.Name(path))
	case r != nil:
		return r, nil
	}
	callee, err := e.lib.called(n)
	if err != nil {
		return nil, err
	}
	r = newScope(callee, path+"/", s.depth+1)
	r.open, s.reached[name] = true, r
	in, err := e.needs(s, n)
	r.open = false
	switch {
	case err != nil:
		return nil, err
	case callee != nil:
		return r, e.enter(r, in)
	}
	r.vertex = e.vertex(n, path, in)
	return r, nil
}

// vertex adds a node to the order.
func (e *expansion) vertex(n *tfpb.NodeDef, path string, in []output) *vertex {
	v := &vertex{node: node{name: path, op: n.GetOp(), attrs: n.GetAttr()}, op: e.lib.ops[n.GetOp()]}
	if v.op == nil && e.lib.unknown[n.GetOp()] == "" {
		e.lib.unknown[n.GetOp()] = path
	}
	for _, out := range in {
		out.vertex.uses++
		v.in, v.outs = append(v.in, out.vertex), append(v.outs, out.number)
	}
	e.order = append(e.order, v)
	return v
}

// needs reaches what a node needs, and returns its inputs.
func (e *expansion) needs(s *scope, n *tfpb.NodeDef) ([]output, error) {
	tensors, before := inputs(n)
	if err := e.begin(len(n.GetInput())); err != nil {
		return nil, err
	}
	if err := e.runs(s, before); err != nil {
		return nil, err
	}
	in := make([]output, len(tensors))
	for i, name := range tensors {
		var err error
		if in[i], err = e.tensor(s, name); err != nil {
			return nil, err
		}
	}
	e.chain--
	return in, nil
}

// enter gives a call its arguments. The function runs some nodes whether or not anything takes their outputs.
func (e *expansion) enter(call *scope, in []output) error {
	if call.depth > maxDepth {
		return fmt.Errorf("%s: more than %d calls within each other", phrase.Name(call.path), maxDepth)
	}
	if len(in) != len(call.body.args) {
		return fmt.Errorf("%s has %d inputs, its function wants %d", phrase.Name(call.path), len(in), len(call.body.args))
	}
	for i, arg := range call.body.args {
		call.known[arg] = in[i]
	}
	e.edges += len(call.body.controls)
	return e.runs(call, call.body.controls)
}

// runs reaches nodes such as "^node" for their effects. All results of a call are reached.
func (e *expansion) runs(s *scope, names []string) error {
	for _, name := range names {
		name = strings.TrimPrefix(name, "^")
		if _, given := s.known[name]; given && s.reached[name] == nil {
			continue
		}
		r, err := e.reach(s, name)
		if err == nil && r.vertex == nil && !r.whole {
			r.whole = true
			err = e.results(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// results reaches all results of a call.
func (e *expansion) results(call *scope) error {
	e.edges += len(call.body.results)
	for _, result := range call.body.results {
		if _, err := e.tensor(call, result); err != nil {
			return err
		}
	}
	return nil
}
