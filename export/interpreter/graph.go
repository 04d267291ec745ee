package interpreter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// scope is the main graph, or a node of another scope: a call, with the nodes of its function, or an operation.
type scope struct {
	node *node // nil: a call
	open bool  // what it needs is not complete

	body    *body
	path    string // before the names of nodes
	depth   int    // 0: the main graph
	known   map[string]output
	reached map[string]*scope
}

// expansion finds the nodes that a program reaches.
type expansion struct {
	lib   *library
	order []*node // each after what it needs
	work  int     // nodes and calls
	edges int     // their inputs, and what calls run and return
	chain int     // of those nodes and calls, the ones that are not complete
}

// expand returns what some tensors of the main graph need, and what a node needs, if its name is not
// empty. Feeds are the tensors that the program is given.
func (l *library) expand(feeds, fetches []string, start string) (*Program, error) {
	main := &scope{body: l.bodies[""], known: map[string]output{}, reached: map[string]*scope{}}
	e, p := &expansion{lib: l}, &Program{inputs: len(feeds)}
	for i, name := range feeds {
		base, number, _ := strings.Cut(name, ":")
		if main.body.nodes[base] == nil {
			return nil, fmt.Errorf("no node %s, which is an input", phrase.Name(base))
		}
		main.known[name] = output{&node{place: i}, 0}
		if number == "" || number == "0" {
			main.known[base], main.known[base+":0"] = main.known[name], main.known[name]
		}
	}
	for _, name := range fetches {
		out, err := e.tensor(main, name)
		if err != nil {
			return nil, err
		}
		out.node.uses++
		p.results = append(p.results, out)
	}
	var err error
	if start != "" {
		base, _, _ := strings.Cut(start, ":")
		err = e.runs(main, []string{base})
	}
	p.order = e.order
	return p, err
}

// count counts nodes or calls, and edges, against the limits.
func (e *expansion) count(nodes, edges int) error {
	e.work += nodes
	e.chain += nodes
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
func (e *expansion) tensor(s *scope, name string) (output, error) {
	if out, ok := s.known[name]; ok {
		return out, nil
	}
	base, _, _ := strings.Cut(name, ":")
	r, err := e.reach(s, base)
	if err != nil {
		return output{}, err
	}
	number, err := e.number(s, s.body.nodes[base], name)
	out := output{r.node, number}
	if r.node == nil && err == nil {
		if number >= len(r.body.results) {
			return out, fmt.Errorf("%s: the function has no result %d", phrase.Name(s.path+base), number)
		}
		out, err = e.tensor(r, r.body.results[number])
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
	r = &scope{open: true, body: callee, path: path + "/", depth: s.depth + 1}
	s.reached[name] = r
	in, err := e.inputs(s, n)
	if err != nil {
		return nil, err
	}
	r.open = false
	if callee != nil {
		return r, e.enter(r, in)
	}
	r.node = &node{name: path, op: e.lib.ops[n.GetOp()], attrs: n.GetAttr(), in: in}
	if r.node.op == nil && e.lib.unknown[n.GetOp()] == "" {
		e.lib.unknown[n.GetOp()] = path
	}
	for _, out := range in {
		out.node.uses++
	}
	e.order = append(e.order, r.node)
	return r, nil
}

// inputs reaches what a node needs: nodes such as "^node", which come last and must have run before, and the tensors that
// it takes.
func (e *expansion) inputs(s *scope, n *tfpb.NodeDef) ([]output, error) {
	all := n.GetInput()
	if err := e.count(1, len(all)); err != nil {
		return nil, err
	}
	tensors := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "^") })
	if tensors < 0 {
		tensors = len(all)
	}
	if err := e.runs(s, all[tensors:]); err != nil {
		return nil, err
	}
	in := make([]output, tensors)
	for i, name := range all[:tensors] {
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
	call.known, call.reached = map[string]output{}, map[string]*scope{}
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
		if err != nil {
			return err
		}
		if r.node != nil {
			continue
		}
		if err := e.count(0, len(r.body.results)); err != nil {
			return err
		}
		for _, result := range r.body.results {
			if _, err := e.tensor(r, result); err != nil {
				return err
			}
		}
	}
	return nil
}
