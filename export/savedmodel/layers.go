package savedmodel

import (
	"math"
	"slices"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// layerNodes adds the nodes of layers.
type layerNodes struct {
	*builder
	embedded map[string]*embedded // by name of the graph's node
}

// layers adds the nodes of the model and returns the output of the last. The operations
// of a layer are named NAME/Op; an activation NAME/relu is NAME/Relu.
func (l layerNodes) layers(m *graph.Graph) string {
	at := map[string]string{}
	for _, p := range m.Inputs {
		at[p.Name] = l.port(p)
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		in := make([]string, len(n.In))
		for k, name := range n.In {
			in[k] = at[name]
		}
		if n.Op == graph.OpEmbedding {
			at[n.Name] = l.embedding(n, readBesidesFM(m, i))
			continue
		}
		at[n.Name] = l.layer(n, in)
	}
	return at[m.Output().Name]
}

// readBesidesFM reports whether a node is the last, or a node other than an fm reads it.
func readBesidesFM(m *graph.Graph, i int) bool {
	for k := range m.Nodes {
		if m.Nodes[k].Op != graph.OpFM && slices.Contains(m.Nodes[k].In, m.Nodes[i].Name) {
			return true
		}
	}
	return i == len(m.Nodes)-1
}

// port returns the node of an input. An image in an example is one row.
func (l layerNodes) port(p graph.Port) string {
	if p.Kind == graph.Sparse {
		return nodeIDs
	}
	if !p.Shape.IsImage() {
		return nodeX
	}
	return l.reshape(nodeX+"/image", nodeX, p.Shape)
}

// reshape adds a reshape to s, which does not include the batch dimension.
func (l layerNodes) reshape(name, in string, s graph.Shape) string {
	dims := []int32{-1}
	for _, d := range s {
		dims = append(dims, int32(d))
	}
	return l.add("Reshape", name, []string{in, l.numbers(name+"/shape", dims...)}, floats())
}

func (l layerNodes) layer(n *graph.Node, in []string) string {
	switch n.Op {
	case graph.OpDense:
		matmul := n.Name + "/MatMul"
		return l.bias(n, l.add("MatMul", matmul, []string{in[0], l.read(matmul, n.Vars[0].Name)}, floats()))
	case graph.OpConv2D:
		conv := n.Name + "/Conv2D"
		return l.bias(n, l.add("Conv2D", conv, []string{in[0], l.read(conv, n.Vars[0].Name)}, l.windowed(n, floats())))
	case graph.OpMaxPool2D: // the default of T is float
		return l.add("MaxPool", n.Name+"/MaxPool", in, l.windowed(n, attrs{"ksize": around(n.Attr.Window)}))
	case graph.OpAvgPool2D:
		a := floats()
		a["ksize"] = around(n.Attr.Window)
		return l.add("AvgPool", n.Name+"/AvgPool", in, l.windowed(n, a))
	case graph.OpGlobalAvgPool:
		return l.add("Mean", n.Name+"/Mean", []string{in[0], l.numbers(n.Name+"/Mean/axes", 1, 2)}, floats())
	case graph.OpFlatten:
		return l.reshape(n.Name+"/Reshape", in[0], n.Out)
	case graph.OpDropout:
		return in[0] // dropout is for training only
	case graph.OpLayerNorm:
		return l.layerNorm(n, in[0])
	case graph.OpAdd:
		sum := in[0]
		for _, other := range in[1:] {
			sum = l.add("AddV2", n.Name+"/AddV2", []string{sum, other}, floats())
		}
		return sum
	case graph.OpConcat:
		axis := l.number(n.Name+"/ConcatV2/axis", int32(len(n.Out)))
		a := floats()
		a["N"] = intAttr(int64(len(in)))
		return l.add("ConcatV2", n.Name+"/ConcatV2", append(in, axis), a)
	case graph.OpSparse:
		return l.bias(n, l.sumByRow(n.Name+"/sum", l.weighted(n)))
	case graph.OpFM:
		return l.fm(n)
	case graph.OpCross:
		return l.cross(n, in)
	}
	return l.activation(n, in, strings.TrimSuffix(n.Name, "/"+string(n.Op)))
}

// leakyDefault is the default slope of LeakyRelu.
const leakyDefault = float32(0.2)

// activation adds an activation in the name scope of its layer.
func (l layerNodes) activation(n *graph.Node, in []string, name string) string {
	switch n.Op {
	case graph.OpReLU:
		return l.add("Relu", name+"/Relu", in, floats())
	case graph.OpLeakyReLU: // the default of T is float
		a := attrs{}
		if n.Attr.Alpha != leakyDefault {
			a["alpha"] = floatAttr(n.Attr.Alpha)
		}
		return l.add("LeakyRelu", name+"/LeakyRelu", in, a)
	case graph.OpTanh:
		return l.add("Tanh", name+"/Tanh", in, floats())
	case graph.OpSigmoid:
		return l.add("Sigmoid", name+"/Sigmoid", in, floats())
	case graph.OpGELU:
		return l.gelu(name, in[0])
	}
	panic("savedmodel: unknown layer " + string(n.Op))
}

// gelu adds x·½·(1 + erf(x/√2)).
func (l layerNodes) gelu(name, x string) string {
	name += "/Gelu"
	scaled := l.add("Mul", name+"/scaled", []string{x, l.float(name+"/sqrt_half", float32(math.Sqrt2/2))}, floats())
	erf := l.add("Erf", name+"/Erf", []string{scaled}, floats())
	one := l.add("AddV2", name+"/add", []string{erf, l.float(name+"/one", 1)}, floats())
	half := l.add("Mul", name+"/half_x", []string{x, l.float(name+"/half", 0.5)}, floats())
	return l.add("Mul", name, []string{half, one}, floats())
}

// layerNorm adds (x−mean)/√(variance+ε)·gamma + beta over the last axis.
func (l layerNodes) layerNorm(n *graph.Node, x string) string {
	name := n.Name + "/"
	axis := l.numbers(name+"axis", int32(len(n.Out)))
	mean := func(op, in string) string {
		a := floats()
		a["keep_dims"] = boolAttr(true)
		return l.add("Mean", name+op, []string{in, axis}, a)
	}
	center := l.add("Sub", name+"centered", []string{x, mean("mean", x)}, floats())
	variance := mean("variance", l.add("Square", name+"square", []string{center}, floats()))
	shifted := l.add("AddV2", name+"add", []string{variance, l.float(name+"epsilon", n.Attr.Epsilon)}, floats())
	scale := l.add("Rsqrt", name+"Rsqrt", []string{shifted}, floats())
	normal := l.add("Mul", name+"normalized", []string{center, scale}, floats())
	scaled := l.add("Mul", name+"scaled", []string{normal, l.read(name+"scaled", n.Vars[0].Name)}, floats())
	return l.add("AddV2", name+"shifted", []string{scaled, l.read(name+"shifted", n.Vars[1].Name)}, floats())
}

// windowed adds strides and padding to a.
func (l layerNodes) windowed(n *graph.Node, a attrs) attrs {
	a["strides"] = around(n.Attr.Stride)
	padding := "VALID"
	if n.Attr.Same {
		padding = "SAME"
	}
	a["padding"] = stringAttr(padding)
	return a
}

// around returns the list 1, height, width, 1 of batch, image and channels.
func around(hw [2]int) *tfpb.AttrValue {
	return listAttr(&tfpb.AttrValue_ListValue{I: []int64{1, int64(hw[0]), int64(hw[1]), 1}})
}

// bias adds the bias, the node's second variable, if the node has one.
func (l layerNodes) bias(n *graph.Node, at string) string {
	if len(n.Vars) < 2 {
		return at
	}
	return l.add("BiasAdd", n.Name+"/BiasAdd", []string{at, l.read(n.Name+"/BiasAdd", n.Vars[1].Name)}, floats())
}

// read adds the node by which an operation reads a variable.
func (l layerNodes) read(op, variable string) string {
	return l.add("ReadVariableOp", op+"/ReadVariableOp", []string{variable},
		attrs{"dtype": typeAttr(tfpb.DataType_DT_FLOAT)})
}
