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

// classesHead adds the probabilities, and the classes sorted by them.
func (bu *builder) classesHead(at string, h graph.Head) {
	bu.add("Softmax", nodeY, []string{at}, floats())
	bu.add("TopKV2", nodeTop, []string{nodeY, bu.number("TopKV2/k", int32(h.Classes))}, floats())
	names := make([]string, h.Classes)
	for i := range names {
		names[i] = h.Label(i)
	}
	labels := bu.strings("labels", names...)
	bu.add("GatherV2", nodeClasses, []string{labels, output(nodeTop, 1), bu.number("classes/axis", 0)}, attrs{
		"Tparams":  typeAttr(tfpb.DataType_DT_STRING),
		"Tindices": typeAttr(tfpb.DataType_DT_INT32),
		"Taxis":    typeAttr(tfpb.DataType_DT_INT32),
	})
}

// binaryHead adds the probability of class 1, and the scores of "0" and "1" in this
// order.
func (bu *builder) binaryHead(at string, h graph.Head) {
	bu.add("Identity", nodeLogits, []string{at}, floats())
	bu.add("Sigmoid", nodeProbability, []string{nodeLogits}, floats())
	negative := bu.add("Sub", "negative", []string{bu.float("negative/one", 1), nodeProbability}, floats())
	bu.add("ConcatV2", nodeScores, []string{negative, nodeProbability, bu.number("scores/axis", 1)}, attrs{
		"N": intAttr(2), "T": typeAttr(tfpb.DataType_DT_FLOAT),
	})
	labels := bu.texts("labels", []int64{1, 2}, h.Label(0), h.Label(1))
	multiples := bu.add("Pack", "classes/multiples", []string{nodeBatch, bu.number("classes/one", 1)}, attrs{
		"N": intAttr(2), "T": typeAttr(tfpb.DataType_DT_INT32),
	})
	bu.add("Tile", nodeClasses, []string{labels, multiples}, attrs{"T": typeAttr(tfpb.DataType_DT_STRING)})
}
