package interpreter

import (
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

func newLibrary(graph *tfpb.GraphDef) *library {
	l := &library{bodies: map[string]*body{}, ops: map[string]*op{}, unknown: map[string]string{}}
	for _, o := range operations() {
		l.ops[o.name] = &o
	}
	l.add("", graph.GetNode())
	for _, f := range graph.GetLibrary().GetFunction() {
		b := l.add(f.GetSignature().GetName(), f.GetNodeDef())
		b.controls = slices.Sorted(maps.Values(f.GetControlRet()))
		for _, a := range f.GetSignature().GetInputArg() {
			b.args = append(b.args, a.GetName())
		}
		for _, a := range f.GetSignature().GetOutputArg() {
			b.results = append(b.results, f.GetRet()[a.GetName()])
		}
	}
	return l
}

func (l *library) add(name string, nodes []*tfpb.NodeDef) *body {
	b := &body{nodes: make(map[string]*tfpb.NodeDef, len(nodes))}
	for _, n := range nodes {
		if b.nodes[n.GetName()] != nil {
			refuse("%s: two nodes have this name", phrase.Name(n.GetName()))
		}
		b.nodes[n.GetName()] = n
	}
	l.bodies[name] = b
	return b
}

// called returns the function that a node calls, or nil if it is an operation.
func (l *library) called(n *tfpb.NodeDef) *body {
	if n.GetOp() != "PartitionedCall" && n.GetOp() != "StatefulPartitionedCall" {
		return nil
	}
	name := n.GetAttr()["f"].GetFunc().GetName()
	if name == "" || l.bodies[name] == nil {
		refuse("%s: no function %s", phrase.Name(n.GetName()), phrase.Name(name))
	}
	return l.bodies[name]
}

// refuse refuses the operations that are not known, with a node each. Of many nodes, the last parts of their names are told.
func (l *library) refuse() {
	const few, last = 3, 2
	names := slices.Sorted(maps.Keys(l.unknown))
	for i, name := range names {
		node := l.unknown[name]
		if parts := strings.Split(node, "/"); len(names) > few && len(parts) > last {
			node = "…/" + strings.Join(parts[len(parts)-last:], "/")
		}
		names[i] = fmt.Sprintf("%s (%s)", phrase.Name(name), phrase.Name(node))
	}
	switch {
	case len(names) == 1:
		refuse("ops not known here: %s", names[0])
	case len(names) > 1:
		refuse("%d ops not known here: %s", len(names), strings.Join(names, ", "))
	}
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
func (m *Model) expand(feeds, fetches []Port, start string) *Program {
	main := &scope{body: m.lib.bodies[""], known: map[string]output{}, reached: map[string]*scope{}}
	e, p := &expansion{lib: m.lib}, &Program{Inputs: feeds, Outputs: fetches, store: &m.store}
	for i, feed := range feeds {
		base, number, _ := strings.Cut(feed.tensor, ":")
		if main.body.nodes[base] == nil {
			refuse("no node %s, which is an input", phrase.Name(base))
		}
		main.known[feed.tensor] = output{&node{place: i}, 0}
		if number == "" || number == "0" {
			main.known[base], main.known[base+":0"] = main.known[feed.tensor], main.known[feed.tensor]
		}
	}
	for _, fetch := range fetches {
		out := e.tensor(main, fetch.tensor)
		out.node.uses++
		p.results = append(p.results, out)
	}
	if start, _, _ = strings.Cut(start, ":"); start != "" {
		e.runs(main, []string{start})
	}
	p.order = e.order
	return p
}

// count counts nodes or calls, and edges, against the limits.
func (e *expansion) count(nodes, edges int) {
	e.work += nodes
	e.chain += nodes
	e.edges += edges
	if e.work > maxNodes || e.chain > maxChain {
		refuse("more than %d nodes, or %d that need one another", maxNodes, maxChain)
	}
	if e.edges > maxEdges {
		refuse("nodes with more than %d inputs together", maxEdges)
	}
}

// tensor returns the output that a name means within a scope: "node" or "node:1" in the main graph, an
// argument or "node:port:1" in a function. The output of a call is one of the function.
func (e *expansion) tensor(s *scope, name string) output {
	if out, ok := s.known[name]; ok {
		return out
	}
	base, _, _ := strings.Cut(name, ":")
	r := e.reach(s, base)
	out := output{r.node, e.number(s, s.body.nodes[base], name)}
	if r.node == nil {
		if out.number >= len(r.body.results) {
			refuse("%s: the function has no result %d", phrase.Name(s.path+base), out.number)
		}
		out = e.tensor(r, r.body.results[out.number])
	}
	s.known[name] = out
	return out
}

// number returns the number of the output that the name of a tensor means.
func (e *expansion) number(s *scope, n *tfpb.NodeDef, name string) int {
	parts := strings.Split(name, ":")
	index, err := 0, error(nil)
	if len(parts) > 1 {
		index, err = strconv.Atoi(parts[len(parts)-1])
	}
	if err != nil || index < 0 || index >= maxOutputs {
		refuse("%s is no output", phrase.Name(s.path+name))
	}
	if o := e.lib.ops[n.GetOp()]; o != nil && len(parts) > 2 {
		_, before := o.outputs(&node{attrs: n.GetAttr()}, parts[1])
		index += before
	}
	return index
}

// reach returns what a node of a scope is, after all that it needs.
func (e *expansion) reach(s *scope, name string) *scope {
	path := s.path + name
	r, n := s.reached[name], s.body.nodes[name]
	switch {
	case n == nil:
		refuse("no node %s, which another needs", phrase.Name(path))
	case r != nil && r.open:
		refuse("%s: needs its own output", phrase.Name(path))
	case r != nil:
		return r
	}
	r = &scope{open: true, body: e.lib.called(n), path: path + "/", depth: s.depth + 1}
	s.reached[name] = r
	in := e.inputs(s, n)
	r.open = false
	if r.body != nil {
		e.enter(r, in)
		return r
	}
	r.node = &node{name: path, op: e.lib.ops[n.GetOp()], attrs: n.GetAttr()}
	if r.node.op == nil && e.lib.unknown[n.GetOp()] == "" {
		e.lib.unknown[n.GetOp()] = path
	}
	for _, out := range in {
		out.node.uses++
		r.node.in, r.node.outs = append(r.node.in, out.node), append(r.node.outs, out.number)
	}
	e.order = append(e.order, r.node)
	return r
}

// inputs reaches what a node needs: nodes such as "^node", which come last and must have run before, and the tensors that
// it takes.
func (e *expansion) inputs(s *scope, n *tfpb.NodeDef) []output {
	all := n.GetInput()
	e.count(1, len(all))
	tensors := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "^") })
	if tensors < 0 {
		tensors = len(all)
	}
	e.runs(s, all[tensors:])
	in := make([]output, tensors)
	for i, name := range all[:tensors] {
		in[i] = e.tensor(s, name)
	}
	e.chain--
	return in
}

// enter gives a call its arguments. The function runs some nodes whether or not anything takes their outputs.
func (e *expansion) enter(call *scope, in []output) {
	if call.depth > maxDepth {
		refuse("%s: more than %d calls within each other", phrase.Name(call.path), maxDepth)
	}
	if len(in) != len(call.body.args) {
		refuse("%s has %d inputs, its function wants %d", phrase.Name(call.path), len(in), len(call.body.args))
	}
	call.known, call.reached = map[string]output{}, map[string]*scope{}
	for i, arg := range call.body.args {
		call.known[arg] = in[i]
	}
	e.count(0, len(call.body.controls))
	e.runs(call, call.body.controls)
}

// runs reaches nodes such as "^node" for their effects. All results of a call are reached.
func (e *expansion) runs(s *scope, names []string) {
	for _, name := range names {
		name = strings.TrimPrefix(name, "^")
		if _, given := s.known[name]; given && s.reached[name] == nil {
			continue
		}
		r := e.reach(s, name)
		if r.node != nil {
			continue
		}
		e.count(0, len(r.body.results))
		for _, result := range r.body.results {
			e.tensor(r, result)
		}
	}
}
