package savedmodel

import (
	"fmt"
	"maps"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// The methods of TensorFlow Serving.
const (
	methodPredict  = "tensorflow/serving/predict"
	methodClassify = "tensorflow/serving/classify"
	methodRegress  = "tensorflow/serving/regress"

	// defaultSignature is the signature of requests that name none.
	defaultSignature = "serving_default"
)

type endpoints map[string]*tfpb.TensorInfo

type signatures map[string]*tfpb.SignatureDef

func signature(method string, inputs, outputs endpoints) *tfpb.SignatureDef {
	return &tfpb.SignatureDef{MethodName: method, Inputs: inputs, Outputs: outputs}
}

func floatInfo(node string, dims ...int64) *tfpb.TensorInfo {
	return tensorInfo(node, tfpb.DataType_DT_FLOAT, dims...)
}

func tensorInfo(node string, t tfpb.DataType, dims ...int64) *tfpb.TensorInfo {
	return &tfpb.TensorInfo{Name: node + ":0", Dtype: t, TensorShape: shape(dims...)}
}

// example returns the input of serialized examples.
func example() *tfpb.TensorInfo { return tensorInfo(nodeExample, tfpb.DataType_DT_STRING, -1) }

// features describes the features of a model: ids by field, dense ones, or both.
type features struct {
	sparse bool
	fields int   // of ids
	dense  int64 // 0: none

	columns bool     // requests contain raw records
	keys    []string // outputs of the columns that pass through
}

// predict adds the signatures that return scores. predict takes dense features or, if
// the model has ids, examples; then predict_sparse takes the ids.
func (f features) predict(all signatures, scores, sparse endpoints) {
	if !f.sparse && !f.columns {
		all["predict"] = signature(methodPredict, endpoints{"x": floatInfo(nodeX, -1, f.dense)}, scores)
		return
	}
	all["predict"] = signature(methodPredict, endpoints{"examples": example()}, f.withKeys(scores))
	if !f.sparse {
		return
	}
	ids := endpoints{
		"indices": tensorInfo(nodeIndices, tfpb.DataType_DT_INT64, -1, 2),
		"ids":     tensorInfo(nodeIDs, tfpb.DataType_DT_INT64, -1),
		"values":  floatInfo(nodeValues, -1),
		"shape":   tensorInfo(nodeShape, tfpb.DataType_DT_INT64, 2),
	}
	if f.fields > 1 {
		ids["fields"] = tensorInfo(nodeFields, tfpb.DataType_DT_INT64, -1)
	}
	if f.dense > 0 {
		ids["x"] = floatInfo(nodeX, -1, f.dense)
	}
	for i, name := range f.keys {
		in, _ := keyNodes(i)
		ids[name] = tensorInfo(in, tfpb.DataType_DT_STRING, -1)
	}
	all["predict_sparse"] = signature(methodPredict, ids, f.withKeys(sparse))
}

// withKeys returns the outputs of predict, including the pass-through columns.
func (f features) withKeys(scores endpoints) endpoints {
	all := maps.Clone(scores)
	for i, name := range f.keys {
		_, out := keyNodes(i)
		all[name] = tensorInfo(out, tfpb.DataType_DT_STRING, -1)
	}
	return all
}

// KeyOutputs returns the names of the outputs of the columns that pass through: key for one, the names of several.
func KeyOutputs(columns []string) []string {
	if len(columns) == 1 {
		return []string{"key"}
	}
	taken := []string{"y", "scores", "classes", "probability", "logits", "x", "examples", "indices", "ids", "values", "shape", "fields"}
	return graph.KeyNames(columns, taken)
}

// keyNodes returns the names of the node of a column that passes through, which may be fed, and of its output.
func keyNodes(i int) (in, out string) {
	if i == 0 {
		return nodeKey, nodeKeyOut
	}
	return fmt.Sprintf("%s_%d", nodeKey, i), fmt.Sprintf("%s_%d", nodeKeyOut, i)
}

func (f features) regression() signatures {
	y := endpoints{"y": floatInfo(nodeY, -1, 1)}
	all := signatures{
		defaultSignature: signature(methodRegress, endpoints{"inputs": example()}, endpoints{"outputs": y["y"]}),
	}
	f.predict(all, y, y)
	return all
}

func (f features) classes(classes int64) signatures {
	scores := endpoints{"scores": floatInfo(nodeY, -1, classes)}
	all := signatures{
		defaultSignature: signature(methodClassify,
			endpoints{"inputs": example()},
			endpoints{
				"classes": tensorInfo(nodeClasses, tfpb.DataType_DT_STRING, -1, classes),
				"scores":  floatInfo(nodeTop, -1, classes),
			}),
	}
	if f.sparse || f.columns {
		f.predict(all, scores, scores)
		return all
	}
	all["predict_images"] = signature(methodPredict, endpoints{"images": floatInfo(nodeX, -1, f.dense)}, scores)
	return all
}

func (f features) binary() signatures {
	probability := floatInfo(nodeProbability, -1, 1)
	all := signatures{
		defaultSignature: signature(methodClassify,
			endpoints{"inputs": example()},
			endpoints{
				"classes": tensorInfo(nodeClasses, tfpb.DataType_DT_STRING, -1, 2),
				"scores":  floatInfo(nodeScores, -1, 2),
			}),
		"regression": signature(methodRegress, endpoints{"inputs": example()}, endpoints{"outputs": probability}),
	}
	f.predict(all, endpoints{"probability": probability, "logits": floatInfo(nodeLogits, -1, 1)}, endpoints{"probability": probability})
	return all
}
