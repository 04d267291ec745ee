package graph

import (
	"fmt"
	"slices"
)

// A Builder makes a graph node by node. After an error it must not be used.
type Builder struct {
	g Graph
}

// Input adds an input with a new name.
func (b *Builder) Input(p Port) { b.g.Inputs = append(b.g.Inputs, p) }

// Add adds a node that reads in, existing ports or nodes. It returns the node's name. An
// error describes the misfit; the caller adds the position of the layer.
func (b *Builder) Add(op Op, name string, a Attrs, in ...string) (string, error) {
	if _, taken := b.g.Shape(name); taken {
		return "", fmt.Errorf("the name %q is taken", name)
	}
	shapes := make([]Shape, len(in))
	for i, s := range in {
		var ok bool
		if shapes[i], ok = b.g.Shape(s); !ok {
			return "", fmt.Errorf("in is %q, want an input or a layer before it", s)
		}
		if ids := b.isSparse(s); ids && !op.ReadsIDs() {
			return "", fmt.Errorf("reads %q, which is a list of ids, want a dense input", s)
		} else if !ids && op.ReadsIDs() {
			return "", fmt.Errorf("reads %q, which is dense, want a list of ids", s)
		}
	}
	n := Node{Name: name, Op: op, In: slices.Clone(in), Attr: a}
	if err := b.inherit(&n); err != nil {
		return "", err
	}
	if err := n.infer(shapes); err != nil {
		return "", err
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return name, nil
}

// inherit sets the attributes that n gets from its input.
func (b *Builder) inherit(n *Node) error {
	switch {
	case len(n.In) == 0:
	case n.Op.ReadsIDs():
		for _, p := range b.g.Inputs {
			if p.Name == n.In[0] {
				n.Attr.Fields = max(p.Fields, 1)
			}
		}
	case n.Op == OpFM:
		i := slices.IndexFunc(b.g.Nodes, func(m Node) bool { return m.Name == n.In[0] })
		if i < 0 || b.g.Nodes[i].Op != OpEmbedding {
			return fmt.Errorf("reads %q, which is no embedding, want an embedding layer", n.In[0])
		}
		n.Attr.Size, n.Attr.Fields = b.g.Nodes[i].Attr.Size, b.g.Nodes[i].Attr.Fields
	}
	return nil
}

func (b *Builder) isSparse(port string) bool {
	return slices.ContainsFunc(b.g.Inputs, func(p Port) bool { return p.Name == port && p.Kind == Sparse })
}

// Graph completes the graph with a head. Every node but the last must be read by
// another.
func (b *Builder) Graph(h Head) (*Graph, error) {
	if len(b.g.Nodes) == 0 {
		return nil, fmt.Errorf("the model has no layers, want one or more")
	}
	for _, n := range b.g.Nodes[:len(b.g.Nodes)-1] {
		if !slices.ContainsFunc(b.g.Nodes, func(m Node) bool { return slices.Contains(m.In, n.Name) }) {
			return nil, fmt.Errorf("no layer reads layer %s: want it in the in of another, or last", n.Name)
		}
	}
	if h.Labels != nil && len(h.Labels) != h.Classes {
		return nil, fmt.Errorf("%d names of classes, want %d", len(h.Labels), h.Classes)
	}
	out := b.g.Output()
	if len(out.Out) != 1 || out.Out[0] != h.Outputs() {
		return nil, fmt.Errorf("the last layer, %s, gives %v, want %d for %v", out.Name, out.Out, h.Outputs(), h.Kind)
	}
	g := b.g
	g.Head = h
	return &g, nil
}
