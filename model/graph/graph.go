package graph

import (
	"fmt"
	"strconv"
)

// A Graph is a model without values.
type Graph struct {
	Inputs []Port
	Nodes  []Node // in the order of forward; the last one has the head's outputs
	Head   Head

	// Columns make the inputs from raw records; nil if the records already have the
	// inputs.
	Columns *Columns
}

// A Port is an input of the graph.
type Port struct {
	Name  string
	Kind  PortKind
	Shape Shape // of a sparse port: the number of ids

	Fields int // bags per example, for a sparse port
}

// PortKind is the kind of data of a port.
type PortKind int

// The kinds of ports.
const (
	Dense  PortKind = iota + 1 // values of the port's shape
	Sparse                     // bags of (id, value) pairs, one for each field
)

// A Node is one layer.
type Node struct {
	Name string   // "hidden_1", also the first part of its variables' names
	Op   Op       // "dense"
	In   []string // names of ports or of nodes before it
	Attr Attrs
	Vars []VarSpec
	Out  Shape
}

// Attrs are the options of a node. The comment of each option lists its ops.
type Attrs struct {
	Units   int         // dense, sparse, fm; conv2d: filters
	Window  [2]int      // conv2d: height and width of the kernel; pools: of the window
	Stride  [2]int      // conv2d, pools
	Same    bool        // conv2d, pools: pad to an output of ⌈size/stride⌉; else no padding
	NoBias  bool        // dense, conv2d
	Init    Initializer // dense, conv2d, cross: of the kernel; sparse: of the weights
	Alpha   float32     // leaky_relu: slope below 0
	Rate    float32     // dropout: dropped share, in [0, 1)
	Epsilon float32     // layer_norm: added to the variance
	Size    int         // embedding: elements of a row; fm: of its embedding's
	Pooling Pooling     // embedding
	Fields  int         // sparse, embedding, fm: fields of the port, set by the builder
}

// Pooling is the combination of the rows of a field's ids in an embedding, as in
// TensorFlow's embedding_lookup_sparse. A field without ids gives zeros, and so does a
// divisor of 0.
type Pooling string

// The poolings.
const (
	PoolSum   Pooling = "sum"   // Σ value·row
	PoolMean  Pooling = "mean"  // Σ value·row / Σ value
	PoolSqrtN Pooling = "sqrtn" // Σ value·row / √Σ value²
)

// Takes returns the names of all poolings.
func (Pooling) Takes() string { return fmt.Sprintf("%s, %s, %s", PoolSum, PoolMean, PoolSqrtN) }

// VarSpec describes a variable of one node. An fm reads the table of its embedding.
type VarSpec struct {
	Name   string // TensorFlow's name, such as "softmax/kernel"
	Shape  []int
	Init   Initializer
	FanIn  int  // inputs per output, for the initializer
	FanOut int  // outputs per input
	ByRows bool // a batch uses few rows
	Decay  bool // penalties on weights apply: no bias, gamma or beta
}

// Len returns the number of elements.
func (v *VarSpec) Len() int { return Shape(v.Shape).Len() }

// Initializer is the method that sets a variable's initial values.
type Initializer string

// The initializers. The uniform ones draw from [−r, r).
const (
	Glorot Initializer = "glorot" // r = √(6/(fan in + fan out)): Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010
	He     Initializer = "he"     // r = √(6/fan in): He et al., "Delving deep into rectifiers", 2015
	Zeros  Initializer = "zeros"
	Ones   Initializer = "ones"  // of layer_norm alone
	Small  Initializer = "small" // of embedding and sparse: r = 0.05, as in Keras's Embedding; each row has its own random stream
)

// Takes returns the names of those that a job may choose.
func (Initializer) Takes() string { return fmt.Sprintf("%s, %s, %s", Glorot, He, Zeros) }

// Head defines the meaning of the last node's outputs.
type Head struct {
	Kind    HeadKind
	Classes int // of HeadClasses; 2 for HeadBinary, 0 for HeadRegression

	// Labels are the names of the classes; nil means their numbers.
	Labels []string

	// Scale makes what a regression learns of its label; nil: the label itself. Scores are in the label's unit.
	Scale *DenseColumn
}

// Unit returns an output of a regression, or what it learns of a label, in the unit of the label.
func (h Head) Unit(z float32) float64 {
	if h.Scale == nil {
		return float64(z)
	}
	return h.Scale.Unit(float64(z))
}

// Label returns the name of a class.
func (h Head) Label(class int) string {
	if h.Labels == nil {
		return strconv.Itoa(class)
	}
	return h.Labels[class]
}

// Names returns the names of all classes; none of a regression.
func (h Head) Names() []string {
	names := make([]string, h.Classes)
	for class := range names {
		names[class] = h.Label(class)
	}
	return names
}

// HeadKind is the kind of a head.
type HeadKind int

// The heads.
const (
	HeadRegression HeadKind = iota + 1 // scores are the outputs [n, 1]
	HeadClasses                        // scores are softmax(outputs) [n, k]
	HeadBinary                         // scores are sigmoid(outputs) [n, 1]
)

// String returns the name of the kind.
func (h HeadKind) String() string {
	switch h {
	case HeadRegression:
		return "regression"
	case HeadClasses:
		return "classes"
	case HeadBinary:
		return "binary"
	}
	return fmt.Sprintf("HeadKind(%d)", int(h))
}

// Outputs returns the number of outputs that the last node must have.
func (h Head) Outputs() int {
	if h.Kind == HeadClasses {
		return h.Classes
	}
	return 1
}

// Output returns the last node.
func (g *Graph) Output() *Node { return &g.Nodes[len(g.Nodes)-1] }

// Variables returns the variables of all nodes, in the order of forward.
func (g *Graph) Variables() []VarSpec {
	var all []VarSpec
	for i := range g.Nodes {
		all = append(all, g.Nodes[i].Vars...)
	}
	return all
}

// Parameters returns the number of elements of all variables.
func (g *Graph) Parameters() int {
	n := 0
	for _, v := range g.Variables() {
		n = sum(n, v.Len())
	}
	return n
}

// Shape returns the shape of the input or node with that name. ok is false if there is
// none.
func (g *Graph) Shape(name string) (Shape, bool) {
	for _, p := range g.Inputs {
		if p.Name == name {
			return p.Shape, true
		}
	}
	for i := range g.Nodes {
		if g.Nodes[i].Name == name {
			return g.Nodes[i].Out, true
		}
	}
	return nil, false
}
