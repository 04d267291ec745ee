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

// vertex is a node that a target reaches, with the functions around it inlined.
type vertex struct {
	node
	op    *op       // nil: not known here, or an input of the program
	input int       // number of the input of the program; -1: it is a node
	from  []*vertex // that have the inputs
	outs  []int     // the outputs of from
	after []*vertex // must have run before
	color byte      // of the walk that sorts: 0 new, 1 begun, 2 done
}

// output is an output of a vertex.
type output struct {
	vertex *vertex
	out    int
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
	besides  []*vertex // that a call runs whatever it is asked for; nil: not found yet
}

// expansion finds the vertices that targets reach. It links vertices one by one and does not recurse
// along the graph, so that no graph is too deep.
type expansion struct {
	lib     *library
	main    *scope
	feeds   map[string]*vertex // by tensor of the main graph: node:0
	targets []*vertex
	pending []pending
	entered []*scope // calls of which what they run besides is no target yet
	unknown map[string]string
	work    int // vertices, calls and steps of resolution
}

// pending is a vertex whose inputs are not linked yet.
type pending struct {
	vertex *vertex
	scope  *scope
	def    *tfpb.NodeDef
}

func newExpansion(lib *library, feeds []string) (*expansion, error) {
	e := &expansion{lib: lib, feeds: map[string]*vertex{}, unknown: map[string]string{}}
	e.main = &scope{body: lib.main, vertices: map[string]*vertex{}, calls: map[string]*scope{}}
	for i, name := range feeds {
		base, index, err := parseTensor(name)
		if err != nil {
			return nil, err
		}
		if lib.main.nodes[base] == nil {
			return nil, fmt.Errorf("no node %s, which is an input", phrase.Name(base))
		}
		e.feeds[base+":"+strconv.Itoa(index)] = &vertex{node: node{name: base}, input: i}
	}
	return e, nil
}

// parseTensor returns the node and the number of the output of a tensor's name in the main graph.
func parseTensor(name string) (base string, index int, err error) {
	base, number, ok := strings.Cut(name, ":")
	if ok {
		index, err = strconv.Atoi(number)
	}
	if err != nil || index < 0 || index >= maxOutputs || base == "" {
		return "", 0, fmt.Errorf("%s is no tensor", phrase.Name(name))
	}
	return base, index, nil
}

// spend counts work against the limit.
func (e *expansion) spend(n int) error {
	if e.work += n; e.work > 32*maxNodes {
		return fmt.Errorf("more than %d nodes", maxNodes)
	}
	return nil
}

// tensor returns the output that a name means within a scope. Arguments lead to the caller, results
// of calls into the function.
func (e *expansion) tensor(s *scope, name string) (output, error) {
	for {
		if err := e.spend(1); err != nil {
			return output{}, err
		}
		base, rest, _ := strings.Cut(name, ":")
		if i, ok := s.body.args[base]; ok {
			inputs := dataInputs(s.call)
			if i >= len(inputs) {
				return output{}, fmt.Errorf("%s: has %d inputs, the function %s wants more", s.parent.path+s.call.GetName(), len(inputs), s.body.name)
			}
			s, name = s.parent, inputs[i]
			continue
		}
		n := s.body.nodes[base]
		if n == nil {
			return output{}, fmt.Errorf("%sno node %s", s.path, phrase.Name(base))
		}
		out, callee, err := e.output(s, n, rest)
		if err != nil {
			return output{}, err
		}
		if s.parent == nil {
			if feed := e.feeds[base+":"+strconv.Itoa(out)]; feed != nil {
				return output{feed, 0}, nil
			}
		}
		if callee == nil {
			v, err := e.vertex(s, n)
			return output{v, out}, err
		}
		if out >= len(callee.results) {
			return output{}, fmt.Errorf("%s%s: function %s has no result %d", s.path, base, callee.name, out)
		}
		if s, err = e.enter(s, n, callee); err != nil {
			return output{}, err
		}
		name = callee.results[out]
	}
}

// output returns the number of the output that rest names, and the function if n calls one: "" or
// "1" in the main graph, "port:1" in a function.
func (e *expansion) output(s *scope, n *tfpb.NodeDef, rest string) (out int, callee *body, err error) {
	if callee, err = e.lib.called(n); err != nil || rest == "" {
		return 0, callee, err
	}
	number, port := rest, ""
	if s.parent != nil {
		port, number, _ = strings.Cut(rest, ":")
	}
	index := 0
	if number != "" {
		index, err = strconv.Atoi(number)
	}
	if err != nil || index < 0 || index >= maxOutputs {
		return 0, nil, fmt.Errorf("%s%s: %s is no output", s.path, n.GetName(), phrase.Name(rest))
	}
	if s.parent == nil {
		return index, callee, nil
	}
	if o := e.lib.ops[n.GetOp()]; o != nil {
		_, before, err := o.outputs(&node{attrs: n.GetAttr()}, port)
		return before + index, nil, err
	}
	if callee != nil && callee.name == n.GetOp() {
		index += callee.ports[port]
	}
	return index, callee, nil
}

func dataInputs(n *tfpb.NodeDef) []string {
	inputs := n.GetInput()
	if i := slices.IndexFunc(inputs, func(s string) bool { return strings.HasPrefix(s, "^") }); i >= 0 {
		return inputs[:i] // inputs that only order come last
	}
	return inputs
}

// vertex returns the vertex of a node in a scope.
func (e *expansion) vertex(s *scope, n *tfpb.NodeDef) (*vertex, error) {
	if v := s.vertices[n.GetName()]; v != nil {
		return v, nil
	}
	if err := e.spend(31); err != nil {
		return nil, err
	}
	v := &vertex{node: node{name: s.path + n.GetName(), op: n.GetOp(), attrs: n.GetAttr()}, input: -1, op: e.lib.ops[n.GetOp()]}
	if v.op == nil && e.unknown[n.GetOp()] == "" {
		e.unknown[n.GetOp()] = v.name
	}
	s.vertices[n.GetName()] = v
	e.pending = append(e.pending, pending{v, s, n})
	return v, nil
}

// enter returns the scope of a call.
func (e *expansion) enter(s *scope, call *tfpb.NodeDef, callee *body) (*scope, error) {
	if child := s.calls[call.GetName()]; child != nil {
		return child, nil
	}
	if s.depth == maxDepth {
		return nil, fmt.Errorf("%s%s: more than %d calls within each other", s.path, call.GetName(), maxDepth)
	}
	if err := e.spend(31); err != nil {
		return nil, err
	}
	child := &scope{body: callee, parent: s, call: call, path: s.path + call.GetName() + "/", depth: s.depth + 1,
		vertices: map[string]*vertex{}, calls: map[string]*scope{}}
	s.calls[call.GetName()] = child
	e.entered = append(e.entered, child)
	return child, nil
}

// besides returns the vertices that a call runs whether or not anything takes its results.
func (e *expansion) besides(s *scope) ([]*vertex, error) {
	if s.besides != nil {
		return s.besides, nil
	}
	all := []*vertex{}
	for _, name := range slices.Sorted(maps.Values(s.body.controls)) {
		vs, err := e.control(s, name)
		if err != nil {
			return nil, err
		}
		all = append(all, vs...)
	}
	s.besides = all
	return all, nil
}

// control returns the vertices that have run when a node has: those of a call are the results of the
// function and what it runs besides.
func (e *expansion) control(s *scope, name string) ([]*vertex, error) {
	if _, ok := s.body.args[name]; ok {
		arg, err := e.tensor(s, name)
		return []*vertex{arg.vertex}, err
	}
	n := s.body.nodes[name]
	if n == nil {
		return nil, fmt.Errorf("%sno node %s", s.path, phrase.Name(name))
	}
	callee, err := e.lib.called(n)
	if err != nil {
		return nil, err
	}
	if callee == nil {
		v, err := e.vertex(s, n)
		return []*vertex{v}, err
	}
	child, err := e.enter(s, n, callee)
	if err != nil {
		return nil, err
	}
	all, err := e.besides(child)
	if err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	for _, result := range callee.results {
		out, err := e.tensor(child, result)
		if err != nil {
			return nil, err
		}
		all = append(all, out.vertex)
	}
	return all, e.spend(1 + len(all))
}

// finish links all vertices that the targets reach.
func (e *expansion) finish() error {
	for len(e.pending)+len(e.entered) > 0 {
		entered := e.entered
		e.entered = nil
		for _, s := range entered {
			vs, err := e.besides(s)
			if err != nil {
				return err
			}
			e.targets = append(e.targets, vs...)
		}
		if last := len(e.pending) - 1; last >= 0 {
			p := e.pending[last]
			e.pending = e.pending[:last]
			if err := e.link(p.vertex, p.scope, p.def); err != nil {
				return err
			}
		}
	}
	return nil
}

// link finds the inputs of v, which is def in s.
func (e *expansion) link(v *vertex, s *scope, def *tfpb.NodeDef) error {
	data := dataInputs(def)
	for _, name := range data {
		input, err := e.tensor(s, name)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		v.from, v.outs = append(v.from, input.vertex), append(v.outs, input.out)
	}
	if err := e.order(v, s, def.GetInput()[len(data):]); err != nil {
		return err
	}
	if v.op == nil || !v.op.state {
		return nil
	}
	for ; s.parent != nil; s = s.parent { // what a call waits for, its changes wait for
		if err := e.order(v, s.parent, s.call.GetInput()[len(dataInputs(s.call)):]); err != nil {
			return err
		}
	}
	return nil
}

// order lets v run after the nodes that names such as "^node" mean.
func (e *expansion) order(v *vertex, s *scope, names []string) error {
	for _, name := range names {
		base, ok := strings.CutPrefix(name, "^")
		if !ok {
			return fmt.Errorf("%s: input %s comes after one that only orders", v.name, phrase.Name(name))
		}
		vs, err := e.control(s, base)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		v.after = append(v.after, vs...)
	}
	return nil
}

// sorted returns the vertices that the targets reach, each after those that it needs.
func (e *expansion) sorted() ([]*vertex, error) {
	var order, stack []*vertex
	for _, target := range e.targets {
		stack = append(stack, target)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			if v.color != 0 {
				stack = stack[:len(stack)-1]
				if v.color == 1 {
					v.color = 2
					order = append(order, v)
				}
				continue
			}
			v.color = 1
			for _, need := range v.needs() {
				switch need.color {
				case 0:
					stack = append(stack, need)
				case 1:
					return nil, fmt.Errorf("%s: needs its own output, by way of %s", need.name, v.name)
				}
			}
		}
	}
	return order, nil
}

// needs returns the vertices that must have run before v, in an order of which the first is needed
// last.
func (v *vertex) needs() []*vertex {
	needs := slices.Clone(v.after)
	for _, from := range slices.Backward(v.from) {
		needs = append(needs, from)
	}
	return needs
}

// refuse returns an error that names all operations that are not known, with a node each.
func refuse(unknown map[string]string) error {
	if len(unknown) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(unknown))
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%s)", phrase.Name(name), phrase.Name(unknown[name]))
	}
	return errors.New("ops not known here: " + strings.Join(names, ", "))
}
