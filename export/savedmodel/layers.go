package savedmodel

import (
	"ringtrain/export/tfpb"
	"ringtrain/model"
)

// layers adds the layers and returns the output of the last.
func (g *graph) layers(d model.Description) string {
	at := nodeX
	for _, l := range d.Layers {
		switch l.Op {
		case "dense":
			at = g.bias(l, g.add("MatMul", l.Name+"/MatMul", []string{
				at, g.read(l.Name+"/MatMul", l.Kernel),
			}, floats()))
		case "sparse":
			at = g.bias(l, g.sumOfRows(l))
		case "relu":
			at = g.add("Relu", l.Name+"/Relu", []string{at}, floats())
		default:
			panic("savedmodel: unknown layer")
		}
	}
	return at
}

func (g *graph) bias(l model.Layer, at string) string {
	return g.add("BiasAdd", l.Name+"/BiasAdd", []string{at, g.read(l.Name+"/BiasAdd", l.Bias)}, floats())
}

// read adds the node by which an operation reads a variable.
func (g *graph) read(op, variable string) string {
	return g.add("ReadVariableOp", op+"/ReadVariableOp", []string{variable},
		attrs{"dtype": typeAttr(tfpb.DataType_DT_FLOAT)})
}

// sumOfRows adds Σ value · row of the table, over the ids of each example.
func (g *graph) sumOfRows(l model.Layer) string {
	lookup := g.add("ResourceGather", l.Name+"/lookup", []string{l.Kernel, nodeIDs}, attrs{
		"dtype": typeAttr(tfpb.DataType_DT_FLOAT), "Tindices": typeAttr(tfpb.DataType_DT_INT64),
	})
	weighted := g.add("Mul", l.Name+"/weighted", []string{lookup, nodeColumn}, floats())
	return g.add("UnsortedSegmentSum", l.Name+"/sum", []string{weighted, nodeRows, nodeBatch}, attrs{
		"T": typeAttr(tfpb.DataType_DT_FLOAT), "Tindices": typeAttr(tfpb.DataType_DT_INT64),
	})
}
