package savedmodel

import (
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

func regressionSignatures(features int64) signatures {
	y := floatEnd(nodeY, -1, 1)
	return signatures{
		"predict":        signature(methodPredict, endpoints{"x": floatEnd(nodeX, -1, features)}, endpoints{"y": y}),
		defaultSignature: signature(methodRegress, endpoints{"inputs": example()}, endpoints{"outputs": y}),
	}
}

func classesSignatures(features, classes int64) signatures {
	return signatures{
		"predict_images": signature(methodPredict,
			endpoints{"images": floatEnd(nodeX, -1, features)},
			endpoints{"scores": floatEnd(nodeY, -1, classes)}),
		defaultSignature: signature(methodClassify,
			endpoints{"inputs": example()},
			endpoints{
				"classes": end(nodeClasses, tfpb.DataType_DT_STRING, -1, classes),
				"scores":  floatEnd(nodeTop, -1, classes),
			}),
	}
}

// binarySignatures are those of ids with values, or of dense features.
func binarySignatures(sparse bool, features int64) signatures {
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
	scores := endpoints{"probability": probability, "logits": floatEnd(nodeLogits, -1, 1)}
	if !sparse {
		all["predict"] = signature(methodPredict, endpoints{"x": floatEnd(nodeX, -1, features)}, scores)
		return all
	}
	all["predict"] = signature(methodPredict, endpoints{"examples": example()}, scores)
	all["predict_sparse"] = signature(methodPredict,
		endpoints{
			"indices": end(nodeIndices, tfpb.DataType_DT_INT64, -1, 2),
			"ids":     end(nodeIDs, tfpb.DataType_DT_INT64, -1),
			"values":  floatEnd(nodeValues, -1),
			"shape":   end(nodeShape, tfpb.DataType_DT_INT64, 2),
		},
		endpoints{"probability": probability})
	return all
}
