package savedmodel

import (
	"maps"

	"ringtrain/export/tfpb"
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

	columns bool // requests contain raw records
	key     bool // one column passes through
}

// predict adds the signatures that return scores. predict takes dense features or, if
// the model has ids, examples; then predict_sparse takes the ids.
func (f features) predict(all signatures, scores, sparse endpoints) {
	if !f.sparse && !f.columns {
		all["predict"] = signature(methodPredict, endpoints{"x": floatInfo(nodeX, -1, f.dense)}, scores)
		return
	}
	all["predict"] = signature(methodPredict, endpoints{"examples": example()}, f.withKey(scores))
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
	if f.key {
		ids["key"] = tensorInfo(nodeKey, tfpb.DataType_DT_STRING, -1)
	}
	all["predict_sparse"] = signature(methodPredict, ids, f.withKey(sparse))
}

// withKey returns the outputs of predict, including the pass-through column.
func (f features) withKey(scores endpoints) endpoints {
	if !f.key {
		return scores
	}
	all := maps.Clone(scores)
	all["key"] = tensorInfo(nodeKeyOut, tfpb.DataType_DT_STRING, -1)
	return all
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
