package savedmodel

import (
	"math"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// layers adds the nodes of the model and returns the output of the last. The operations
// of a layer are named NAME/Op; an activation NAME/relu is NAME/Relu.
func (bu *builder) layers(m *graph.Graph) string {
	at := map[string]string{}
	for _, p := range m.Inputs {
		at[p.Name] = bu.port(p)
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		in := make([]string, len(n.In))
		for k, name := range n.In {
			in[k] = at[name]
		}
		if n.Op == graph.OpEmbedding {
			at[n.Name] = bu.embedding(n, readBesidesFM(m, i))
			continue
		}
		at[n.Name] = bu.layer(n, in)
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
func (bu *builder) port(p graph.Port) string {
	if p.Kind == graph.Sparse {
		return nodeIDs
	}
	if !p.Shape.IsImage() {
		return nodeX
	}
	return bu.reshape(nodeX+"/image", nodeX, p.Shape)
}

// reshape adds a reshape to s, which does not include the batch dimension.
func (bu *builder) reshape(name, in string, s graph.Shape) string {
	dims := []int32{-1}
	for _, d := range s {
		dims = append(dims, int32(d))
	}
	return bu.add("Reshape", name, []string{in, bu.numbers(name+"/shape", dims...)}, floats())
}

func (bu *builder) layer(n *graph.Node, in []string) string {
	switch n.Op {
	case graph.OpDense:
		matmul := n.Name + "/MatMul"
		return bu.bias(n, bu.add("MatMul", matmul, []string{in[0], bu.read(matmul, n.Vars[0].Name)}, floats()))
	case graph.OpConv2D:
		return bu.bias(n, bu.convolution(n, in[0]))
	case graph.OpMaxPool2D: // the default of T is float
		return bu.add("MaxPool", n.Name+"/MaxPool", in, bu.windowed(n, attrs{"ksize": around(n.Attr.Window)}))
	case graph.OpAvgPool2D:
		a := floats()
		a["ksize"] = around(n.Attr.Window)
		return bu.add("AvgPool", n.Name+"/AvgPool", in, bu.windowed(n, a))
	case graph.OpGlobalAvgPool:
		return bu.add("Mean", n.Name+"/Mean", []string{in[0], bu.numbers(n.Name+"/Mean/axes", 1, 2)}, floats())
	case graph.OpFlatten:
		return bu.reshape(n.Name+"/Reshape", in[0], n.Out)
	case graph.OpDropout:
		return in[0] // dropout is for training only
	case graph.OpLayerNorm:
		return bu.layerNorm(n, in[0])
	case graph.OpAdd:
		sum := in[0]
		for _, other := range in[1:] {
			sum = bu.add("AddV2", n.Name+"/AddV2", []string{sum, other}, floats())
		}
		return sum
	case graph.OpConcat:
		axis := bu.number(n.Name+"/ConcatV2/axis", int32(len(n.Out)))
		a := floats()
		a["N"] = intAttr(int64(len(in)))
		return bu.add("ConcatV2", n.Name+"/ConcatV2", append(in, axis), a)
	case graph.OpSparse:
		return bu.bias(n, bu.sumByRow(n.Name+"/sum", bu.weighted(n)))
	case graph.OpFM:
		return bu.fm(n)
	case graph.OpCross:
		return bu.cross(n, in)
	}
	return bu.activation(n, in)
}

// leakyDefault is the default slope of LeakyRelu.
const leakyDefault = float32(0.2)

func (bu *builder) activation(n *graph.Node, in []string) string {
	name := scope(n)
	switch n.Op {
	case graph.OpReLU:
		return bu.add("Relu", name+"/Relu", in, floats())
	case graph.OpLeakyReLU: // the default of T is float
		a := attrs{}
		if n.Attr.Alpha != leakyDefault {
			a["alpha"] = floatAttr(n.Attr.Alpha)
		}
		return bu.add("LeakyRelu", name+"/LeakyRelu", in, a)
	case graph.OpTanh:
		return bu.add("Tanh", name+"/Tanh", in, floats())
	case graph.OpSigmoid:
		return bu.add("Sigmoid", name+"/Sigmoid", in, floats())
	case graph.OpGELU:
		return bu.gelu(name, in[0])
	}
	panic("savedmodel: unknown layer " + string(n.Op))
}

// scope returns the name scope of an activation: that of its layer.
func scope(n *graph.Node) string {
	if own := "/" + string(n.Op); len(n.Name) > len(own) && n.Name[len(n.Name)-len(own):] == own {
		return n.Name[:len(n.Name)-len(own)]
	}
	return n.Name
}

// gelu adds x·½·(1 + erf(x/√2)).
func (bu *builder) gelu(name, x string) string {
	name += "/Gelu"
	scaled := bu.add("Mul", name+"/scaled", []string{x, bu.float(name+"/sqrt_half", float32(math.Sqrt2/2))}, floats())
	erf := bu.add("Erf", name+"/Erf", []string{scaled}, floats())
	one := bu.add("AddV2", name+"/add", []string{erf, bu.float(name+"/one", 1)}, floats())
	half := bu.add("Mul", name+"/half_x", []string{x, bu.float(name+"/half", 0.5)}, floats())
	return bu.add("Mul", name, []string{half, one}, floats())
}

// layerNorm adds (x−mean)/√(variance+ε)·gamma + beta over the last axis.
func (bu *builder) layerNorm(n *graph.Node, x string) string {
	name := n.Name + "/"
	axis := bu.numbers(name+"axis", int32(len(n.Out)))
	mean := func(op, in string) string {
		a := floats()
		a["keep_dims"] = boolAttr(true)
		return bu.add("Mean", name+op, []string{in, axis}, a)
	}
	center := bu.add("Sub", name+"centered", []string{x, mean("mean", x)}, floats())
	variance := mean("variance", bu.add("Square", name+"square", []string{center}, floats()))
	shifted := bu.add("AddV2", name+"add", []string{variance, bu.float(name+"epsilon", n.Attr.Epsilon)}, floats())
	scale := bu.add("Rsqrt", name+"Rsqrt", []string{shifted}, floats())
	normal := bu.add("Mul", name+"normalized", []string{center, scale}, floats())
	scaled := bu.add("Mul", name+"scaled", []string{normal, bu.read(name+"scaled", n.Vars[0].Name)}, floats())
	return bu.add("AddV2", name+"shifted", []string{scaled, bu.read(name+"shifted", n.Vars[1].Name)}, floats())
}

func (bu *builder) convolution(n *graph.Node, in string) string {
	name := n.Name + "/Conv2D"
	return bu.add("Conv2D", name, []string{in, bu.read(name, n.Vars[0].Name)}, bu.windowed(n, floats()))
}

// windowed adds strides and padding to a.
func (bu *builder) windowed(n *graph.Node, a attrs) attrs {
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
func (bu *builder) bias(n *graph.Node, at string) string {
	if len(n.Vars) < 2 {
		return at
	}
	return bu.add("BiasAdd", n.Name+"/BiasAdd", []string{at, bu.read(n.Name+"/BiasAdd", n.Vars[1].Name)}, floats())
}

// read adds the node by which an operation reads a variable.
func (bu *builder) read(op, variable string) string {
	return bu.add("ReadVariableOp", op+"/ReadVariableOp", []string{variable},
		attrs{"dtype": typeAttr(tfpb.DataType_DT_FLOAT)})
}
