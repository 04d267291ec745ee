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

	// defaultSignature is what a request without a name means.
	defaultSignature = "serving_default"
)

type endpoints map[string]*tfpb.TensorInfo

type signatures map[string]*tfpb.SignatureDef

func signature(method string, inputs, outputs endpoints) *tfpb.SignatureDef {
	return &tfpb.SignatureDef{MethodName: method, Inputs: inputs, Outputs: outputs}
}

func floatEnd(node string, dims ...int64) *tfpb.TensorInfo {
	return end(node, tfpb.DataType_DT_FLOAT, dims...)
}

func end(node string, t tfpb.DataType, dims ...int64) *tfpb.TensorInfo {
	return &tfpb.TensorInfo{Name: node + ":0", Dtype: t, TensorShape: shape(dims...)}
}

// example is the input of serialized examples.
func example() *tfpb.TensorInfo { return end(nodeExample, tfpb.DataType_DT_STRING, -1) }

// features are those of a model: ids by field, dense ones, or both.
type features struct {
	sparse bool
	fields int   // of ids
	dense  int64 // 0: none

	columns bool // requests have raw records
	key     bool // of which a column is passed through
}

// predict adds the signatures that answer with scores: predict of dense features, or of
// examples where there are ids, and then predict_sparse.
func (e features) predict(all signatures, scores, sparse endpoints) {
	if !e.sparse && !e.columns {
		all["predict"] = signature(methodPredict, endpoints{"x": floatEnd(nodeX, -1, e.dense)}, scores)
		return
	}
	all["predict"] = signature(methodPredict, endpoints{"examples": example()}, e.withKey(scores))
	if !e.sparse {
		return
	}
	ids := endpoints{
		"indices": end(nodeIndices, tfpb.DataType_DT_INT64, -1, 2),
		"ids":     end(nodeIDs, tfpb.DataType_DT_INT64, -1),
		"values":  floatEnd(nodeValues, -1),
		"shape":   end(nodeShape, tfpb.DataType_DT_INT64, 2),
	}
	if e.fields > 1 {
		ids["fields"] = end(nodeFields, tfpb.DataType_DT_INT64, -1)
	}
	if e.dense > 0 {
		ids["x"] = floatEnd(nodeX, -1, e.dense)
	}
	if e.key {
		ids["key"] = end(nodeKey, tfpb.DataType_DT_STRING, -1)
	}
	all["predict_sparse"] = signature(methodPredict, ids, e.withKey(sparse))
}

// withKey are the outputs of predict, and the column that is passed through.
func (e features) withKey(scores endpoints) endpoints {
	if !e.key {
		return scores
	}
	all := maps.Clone(scores)
	all["key"] = end(nodeKeyOut, tfpb.DataType_DT_STRING, -1)
	return all
}

func (e features) regression() signatures {
	y := endpoints{"y": floatEnd(nodeY, -1, 1)}
	all := signatures{
		defaultSignature: signature(methodRegress, endpoints{"inputs": example()}, endpoints{"outputs": y["y"]}),
	}
	e.predict(all, y, y)
	return all
}

func (e features) classes(classes int64) signatures {
	scores := endpoints{"scores": floatEnd(nodeY, -1, classes)}
	all := signatures{
		defaultSignature: signature(methodClassify,
			endpoints{"inputs": example()},
			endpoints{
				"classes": end(nodeClasses, tfpb.DataType_DT_STRING, -1, classes),
				"scores":  floatEnd(nodeTop, -1, classes),
			}),
	}
	if e.sparse || e.columns {
		e.predict(all, scores, scores)
		return all
	}
	all["predict_images"] = signature(methodPredict, endpoints{"images": floatEnd(nodeX, -1, e.dense)}, scores)
	return all
}

func (e features) binary() signatures {
	probability := floatEnd(nodeProbability, -1, 1)
	all := signatures{
		defaultSignature: signature(methodClassify,
			endpoints{"inputs": example()},
			endpoints{
				"classes": end(nodeClasses, tfpb.DataType_DT_STRING, -1, 2),
				"scores":  floatEnd(nodeScores, -1, 2),
			}),
		"regression": signature(methodRegress, endpoints{"inputs": example()}, endpoints{"outputs": probability}),
	}
	e.predict(all, endpoints{"probability": probability, "logits": floatEnd(nodeLogits, -1, 1)}, endpoints{"probability": probability})
	return all
}
