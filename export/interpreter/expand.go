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
	parent   *scope        // nil: the main graph
	call     *tfpb.NodeDef // in parent
	path     string        // before the names of nodes
	depth    int
	vertices map[string]*vertex
	calls    map[string]*scope
}

func newScope(b *body) *scope {
	return &scope{body: b, vertices: map[string]*vertex{}, calls: map[string]*scope{}}
}

// expansion finds the vertices that a program reaches.
type expansion struct {
	lib     *library
	feeds   map[string]*vertex // inputs of the program, by tensor of the main graph: node:0
	order   []*vertex          // each after what it needs
	fetched []output
	inputs  int // of the program
	work    int // nodes, calls and steps of resolution
	chain   int // vertices and calls that are not complete
}

// expand returns what some tensors of the main graph need, and what a node needs, if its name is not
// empty. Feeds are the tensors that the program is given.
func (l *library) expand(feeds, fetches []string, node string) (*expansion, error) {
	main := newScope(l.bodies[""])
	e := &expansion{lib: l, feeds: map[string]*vertex{}, inputs: len(feeds)}
	for i, name := range feeds {
		base, _, _ := strings.Cut(name, ":")
		n := main.body.nodes[base]
		if n == nil {
			return nil, fmt.Errorf("no node %s, which is an input", phrase.Name(base))
		}
		number, err := e.number(main, n, name)
		if err != nil {
			return nil, err
		}
		e.feeds[base+":"+strconv.Itoa(number)] = &vertex{sources: []source{{step: -1, out: i}}}
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
	return e, e.runs(main, node)
}

// spend counts work against the limits.
func (e *expansion) spend(n int) error {
	if e.work += n; e.work > 32*maxNodes || e.chain > maxChain {
		return fmt.Errorf("more than %d nodes, or %d that need one another", maxNodes, maxChain)
	}
	return nil
}

// tensor returns the output that a name means within a scope: "node" or "node:1" in the main graph, an
// argument or "node:port:1" in a function. An argument leads to the caller, a call into the function.
func (e *expansion) tensor(s *scope, name string) (output, error) {
	for {
		if err := e.spend(1); err != nil {
			return output{}, err
		}
		base, _, _ := strings.Cut(name, ":")
		if i, ok := s.body.args[base]; ok {
			tensors, _ := inputs(s.call)
			if i >= len(tensors) {
				return output{}, fmt.Errorf("%s: has %d inputs, its function wants more", s.path, len(tensors))
			}
			s, name = s.parent, tensors[i]
			continue
		}
		n := s.body.nodes[base]
		if n == nil {
			return output{}, noNode(s, base)
		}
		number, err := e.number(s, n, name)
		if err != nil {
			return output{}, err
		}
		if feed := e.feeds[base+":"+strconv.Itoa(number)]; feed != nil && s.parent == nil {
			return output{feed, 0}, nil
		}
		callee, err := e.lib.called(n)
		if err != nil {
			return output{}, err
		}
		if callee == nil {
			v, err := e.vertex(s, n)
			return output{v, number}, err
		}
		if number >= len(callee.results) {
			return output{}, fmt.Errorf("%s%s: the function has no result %d", s.path, base, number)
		}
		if s, err = e.enter(s, n, callee); err != nil {
			return output{}, err
		}
		name = callee.results[number]
	}
}

func noNode(s *scope, name string) error {
	return fmt.Errorf("no node %s, which another needs", phrase.Name(s.path+name))
}

// number returns the number of the output that the name of a tensor means.
func (e *expansion) number(s *scope, n *tfpb.NodeDef, name string) (int, error) {
	parts := strings.Split(name, ":")
	index, err := 0, error(nil)
	if len(parts) > 1 && (s.parent == nil || len(parts) > 2) {
		index, err = strconv.Atoi(parts[len(parts)-1])
	}
	if err != nil || index < 0 || index >= maxOutputs {
		return 0, fmt.Errorf("%s%s is no output", s.path, phrase.Name(name))
	}
	if o := e.lib.ops[n.GetOp()]; o != nil && s.parent != nil && len(parts) > 1 {
		_, before, err := o.outputs(&node{attrs: n.GetAttr()}, parts[1])
		return before + index, err
	}
	return index, nil
}

// vertex returns the vertex of a node in a scope, after all that it needs.
func (e *expansion) vertex(s *scope, n *tfpb.NodeDef) (*vertex, error) {
	path := s.path + n.GetName()
	if v := s.vertices[n.GetName()]; v != nil {
		if v.open {
			return nil, fmt.Errorf("%s: needs its own output", path)
		}
		return v, nil
	}
	if err := e.spend(31); err != nil {
		return nil, err
	}
	v := &vertex{node: node{name: path, op: n.GetOp(), attrs: n.GetAttr()}, op: e.lib.ops[n.GetOp()], open: true}
	if v.op == nil && e.lib.unknown[n.GetOp()] == "" {
		e.lib.unknown[n.GetOp()] = path
	}
	s.vertices[n.GetName()] = v
	e.chain++
	tensors, before := inputs(n)
	if err := e.runsAll(s, before); err != nil {
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

// enter returns the scope of a call, after all that the call waits for. The function runs some nodes
// whether or not anything takes their outputs.
func (e *expansion) enter(s *scope, call *tfpb.NodeDef, callee *body) (*scope, error) {
	if child := s.calls[call.GetName()]; child != nil {
		return child, nil
	}
	child := newScope(callee)
	child.parent, child.call, child.path, child.depth = s, call, s.path+call.GetName()+"/", s.depth+1
	if child.depth > maxDepth {
		return nil, fmt.Errorf("%s: more than %d calls within each other", child.path, maxDepth)
	}
	if err := e.spend(31); err != nil {
		return nil, err
	}
	s.calls[call.GetName()] = child
	e.chain++
	defer func() { e.chain-- }()
	_, before := inputs(call)
	if err := e.runsAll(s, before); err != nil {
		return nil, err
	}
	return child, e.runsAll(child, callee.controls)
}

// runs reaches a node for its effect. All results of a call are reached.
func (e *expansion) runs(s *scope, name string) error {
	n := s.body.nodes[name]
	if n == nil {
		if _, ok := s.body.args[name]; ok {
			_, err := e.tensor(s, name)
			return err
		}
		return noNode(s, name)
	}
	callee, err := e.lib.called(n)
	if err != nil {
		return err
	}
	if callee == nil {
		_, err := e.vertex(s, n)
		return err
	}
	child, err := e.enter(s, n, callee)
	if err != nil {
		return err
	}
	for _, result := range callee.results {
		if _, err := e.tensor(child, result); err != nil {
			return err
		}
	}
	return nil
}

// runsAll reaches nodes such as "^node" for their effects.
func (e *expansion) runsAll(s *scope, names []string) error {
	for _, name := range names {
		if err := e.runs(s, strings.TrimPrefix(name, "^")); err != nil {
			return err
		}
	}
	return nil
}
