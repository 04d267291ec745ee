package savedmodel

import (
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// The output nodes of a head.
const (
	nodeY           = "y"           // regression [n, 1], or probabilities of all classes [n, k]
	nodeTop         = "TopKV2"      // probabilities, best first [n, k]
	nodeClasses     = "classes"     // names of the classes, in the order of the scores [n, k]
	nodeLogits      = "logits"      // [n, 1]
	nodeProbability = "probability" // of class 1 [n, 1]
	nodeScores      = "scores"      // of "0" and "1" [n, 2]
)

// headNodes adds the nodes of a head.
type headNodes struct{ *builder }

// regression adds the number in the unit of the label, which is computed in double.
func (hn headNodes) regression(at string, scale *graph.DenseColumn) {
	if scale == nil {
		hn.add("Identity", nodeY, []string{at}, floats())
		return
	}
	y := hn.cast("label/double", at, tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_DOUBLE)
	y = hn.add("Mul", "label/spread", []string{y, hn.double("label/scale", 1/scale.Scale)}, doubles())
	y = hn.add("AddV2", "label/moved", []string{y, hn.double("label/mean", scale.Mean)}, doubles())
	if scale.Log1p {
		size := hn.add("Expm1", "label/expm1", []string{hn.add("Abs", "label/abs", []string{y}, doubles())}, doubles())
		y = hn.add("Mul", "label/signed", []string{hn.add("Sign", "label/sign", []string{y}, doubles()), size}, doubles())
	}
	hn.cast(nodeY, y, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_FLOAT)
}

// classes adds the probabilities, and the classes sorted by them.
func (hn headNodes) classes(at string, h graph.Head) {
	hn.add("Softmax", nodeY, []string{at}, floats())
	hn.add("TopKV2", nodeTop, []string{nodeY, hn.number("TopKV2/k", int32(h.Classes))}, floats())
	labels := hn.strings("labels", h.Names()...)
	hn.add("GatherV2", nodeClasses, []string{labels, output(nodeTop, 1), hn.number("classes/axis", 0)}, attrs{
		"Tparams":  typeAttr(tfpb.DataType_DT_STRING),
		"Tindices": typeAttr(tfpb.DataType_DT_INT32),
		"Taxis":    typeAttr(tfpb.DataType_DT_INT32),
	})
}

// binary adds the probability of class 1, and the scores of "0" and "1" in this
// order.
func (hn headNodes) binary(at string, h graph.Head) {
	hn.add("Identity", nodeLogits, []string{at}, floats())
	hn.add("Sigmoid", nodeProbability, []string{nodeLogits}, floats())
	negative := hn.add("Sub", "negative", []string{hn.float("negative/one", 1), nodeProbability}, floats())
	hn.add("ConcatV2", nodeScores, []string{negative, nodeProbability, hn.number("scores/axis", 1)}, attrs{
		"N": intAttr(2), "T": typeAttr(tfpb.DataType_DT_FLOAT),
	})
	labels := hn.texts("labels", []int64{1, 2}, h.Label(0), h.Label(1))
	multiples := hn.add("Pack", "classes/multiples", []string{nodeBatch, hn.number("classes/one", 1)}, attrs{
		"N": intAttr(2), "T": typeAttr(tfpb.DataType_DT_INT32),
	})
	hn.add("Tile", nodeClasses, []string{labels, multiples}, attrs{"T": typeAttr(tfpb.DataType_DT_STRING)})
}
