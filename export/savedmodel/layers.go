package savedmodel

import (
	"math"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// layers adds the nodes of the model and returns the output of the last. The operations
// of a layer are named NAME/Op; an activation NAME/relu is NAME/Relu.
func (g *builder) layers(m *graph.Graph) string {
	at := map[string]string{}
	for _, p := range m.Inputs {
		at[p.Name] = g.port(p)
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		in := make([]string, len(n.In))
		for k, name := range n.In {
			in[k] = at[name]
		}
		if n.Op == graph.OpEmbedding {
			at[n.Name] = g.embedding(n, readBesidesFM(m, i))
			continue
		}
		at[n.Name] = g.layer(n, in)
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
func (g *builder) port(p graph.Port) string {
	if p.Kind == graph.Sparse {
		return nodeIDs
	}
	if !p.Shape.IsImage() {
		return nodeX
	}
	return g.reshape(nodeX+"/image", nodeX, p.Shape)
}

// reshape adds a reshape to s, which does not include the batch dimension.
func (g *builder) reshape(name, in string, s graph.Shape) string {
	dims := []int32{-1}
	for _, d := range s {
		dims = append(dims, int32(d))
	}
	return g.add("Reshape", name, []string{in, g.numbers(name+"/shape", dims...)}, floats())
}

func (g *builder) layer(n *graph.Node, in []string) string {
	switch n.Op {
	case graph.OpDense:
		matmul := n.Name + "/MatMul"
		return g.bias(n, g.add("MatMul", matmul, []string{in[0], g.read(matmul, n.Vars[0].Name)}, floats()))
	case graph.OpConv2D:
		return g.bias(n, g.convolution(n, in[0]))
	case graph.OpMaxPool2D: // the default of T is float
		return g.add("MaxPool", n.Name+"/MaxPool", in, g.windowed(n, attrs{"ksize": around(n.Attr.Window)}))
	case graph.OpAvgPool2D:
		a := floats()
		a["ksize"] = around(n.Attr.Window)
		return g.add("AvgPool", n.Name+"/AvgPool", in, g.windowed(n, a))
	case graph.OpGlobalAvgPool:
		return g.add("Mean", n.Name+"/Mean", []string{in[0], g.numbers(n.Name+"/Mean/axes", 1, 2)}, floats())
	case graph.OpFlatten:
		return g.reshape(n.Name+"/Reshape", in[0], n.Out)
	case graph.OpDropout:
		return in[0] // dropout is for training only
	case graph.OpLayerNorm:
		return g.layerNorm(n, in[0])
	case graph.OpAdd:
		sum := in[0]
		for _, other := range in[1:] {
			sum = g.add("AddV2", n.Name+"/AddV2", []string{sum, other}, floats())
		}
		return sum
	case graph.OpConcat:
		axis := g.number(n.Name+"/ConcatV2/axis", int32(len(n.Out)))
		a := floats()
		a["N"] = intAttr(int64(len(in)))
		return g.add("ConcatV2", n.Name+"/ConcatV2", append(in, axis), a)
	case graph.OpSparse:
		return g.bias(n, g.sumByRow(n.Name+"/sum", g.weighted(n)))
	case graph.OpFM:
		return g.fm(n)
	case graph.OpCross:
		return g.cross(n, in)
	}
	return g.activation(n, in)
}

// leakyDefault is the default slope of LeakyRelu.
const leakyDefault = float32(0.2)

func (g *builder) activation(n *graph.Node, in []string) string {
	name := scope(n)
	switch n.Op {
	case graph.OpReLU:
		return g.add("Relu", name+"/Relu", in, floats())
	case graph.OpLeakyReLU: // the default of T is float
		a := attrs{}
		if n.Attr.Alpha != leakyDefault {
			a["alpha"] = floatAttr(n.Attr.Alpha)
		}
		return g.add("LeakyRelu", name+"/LeakyRelu", in, a)
	case graph.OpTanh:
		return g.add("Tanh", name+"/Tanh", in, floats())
	case graph.OpSigmoid:
		return g.add("Sigmoid", name+"/Sigmoid", in, floats())
	case graph.OpGELU:
		return g.gelu(name, in[0])
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
func (g *builder) gelu(name, x string) string {
	name += "/Gelu"
	scaled := g.add("Mul", name+"/scaled", []string{x, g.float(name+"/sqrt_half", float32(math.Sqrt2/2))}, floats())
	erf := g.add("Erf", name+"/Erf", []string{scaled}, floats())
	one := g.add("AddV2", name+"/add", []string{erf, g.float(name+"/one", 1)}, floats())
	half := g.add("Mul", name+"/half_x", []string{x, g.float(name+"/half", 0.5)}, floats())
	return g.add("Mul", name, []string{half, one}, floats())
}

// layerNorm adds (x−mean)/√(variance+ε)·gamma + beta over the last axis.
func (g *builder) layerNorm(n *graph.Node, x string) string {
	name := n.Name + "/"
	axis := g.numbers(name+"axis", int32(len(n.Out)))
	mean := func(op, in string) string {
		a := floats()
		a["keep_dims"] = boolAttr(true)
		return g.add("Mean", name+op, []string{in, axis}, a)
	}
	center := g.add("Sub", name+"centered", []string{x, mean("mean", x)}, floats())
	variance := mean("variance", g.add("Square", name+"square", []string{center}, floats()))
	shifted := g.add("AddV2", name+"add", []string{variance, g.float(name+"epsilon", n.Attr.Epsilon)}, floats())
	scale := g.add("Rsqrt", name+"Rsqrt", []string{shifted}, floats())
	normal := g.add("Mul", name+"normalized", []string{center, scale}, floats())
	scaled := g.add("Mul", name+"scaled", []string{normal, g.read(name+"scaled", n.Vars[0].Name)}, floats())
	return g.add("AddV2", name+"shifted", []string{scaled, g.read(name+"shifted", n.Vars[1].Name)}, floats())
}

func (g *builder) convolution(n *graph.Node, in string) string {
	name := n.Name + "/Conv2D"
	return g.add("Conv2D", name, []string{in, g.read(name, n.Vars[0].Name)}, g.windowed(n, floats()))
}

// windowed adds strides and padding to a.
func (g *builder) windowed(n *graph.Node, a attrs) attrs {
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
func (g *builder) bias(n *graph.Node, at string) string {
	if len(n.Vars) < 2 {
		return at
	}
	return g.add("BiasAdd", n.Name+"/BiasAdd", []string{at, g.read(n.Name+"/BiasAdd", n.Vars[1].Name)}, floats())
}

// read adds the node by which an operation reads a variable.
func (g *builder) read(op, variable string) string {
	return g.add("ReadVariableOp", op+"/ReadVariableOp", []string{variable},
		attrs{"dtype": typeAttr(tfpb.DataType_DT_FLOAT)})
}
