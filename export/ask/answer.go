package ask

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
)

// AppendRows appends the answer of a predict request of rows: a value for each row, or an object if there are several
// outputs. All outputs must have the same number of rows.
func AppendRows(dst []byte, ports []interpreter.Port, outputs []*interpreter.Tensor) ([]byte, error) {
	if len(outputs) == 0 {
		return nil, errors.New("the signature has no outputs, and an instance no answer")
	}
	for i, t := range outputs {
		if len(t.Shape) == 0 || t.Shape[0] != outputs[0].Shape[0] {
			return nil, fmt.Errorf("the output %s has the shape %v, which has no row for each instance: ask with inputs in the place of instances", ports[i].Key, t.Shape)
		}
	}
	next := make([]int, len(outputs))
	return appendLines(dst, "predictions", outputs[0].Shape[0], func(dst []byte, _ int) []byte {
		return appendValues(dst, ports, outputs, 1, next)
	}), nil
}

// AppendColumns appends the answer of a predict request of columns: a value, or an object of several.
func AppendColumns(dst []byte, ports []interpreter.Port, outputs []*interpreter.Tensor) []byte {
	dst = append(dst, "{\n    \"outputs\": "...)
	dst = appendValues(dst, ports, outputs, 0, make([]int, len(outputs)))
	return append(dst, "\n}\n"...)
}

// AppendResults appends the answer of a request to classify, or else of one to regress.
func AppendResults(dst []byte, classes []*servingpb.Classifications, numbers []*servingpb.Regression) []byte {
	if classes == nil {
		return appendLines(dst, "results", len(numbers), func(dst []byte, i int) []byte {
			return appendFloat(dst, float64(numbers[i].GetValue()), 32)
		})
	}
	return appendLines(dst, "results", len(classes), func(dst []byte, row int) []byte {
		of := classes[row].GetClasses()
		return appendItems(dst, "[]", len(of), func(dst []byte, i int) []byte {
			dst = append(appendText(append(dst, '['), of[i].GetLabel()), ", "...)
			return append(appendFloat(dst, float64(of[i].GetScore()), 32), ']')
		})
	})
}

// AppendError appends the answer of a request that has failed.
func AppendError(dst []byte, text string) []byte {
	return append(appendText(append(dst, "{\n    \"error\": "...), text), "\n}\n"...)
}

// appendLines appends an object with a list that has a line for each item.
func appendLines(dst []byte, key string, n int, item func(dst []byte, i int) []byte) []byte {
	dst = fmt.Appendf(dst, "{\n    %q: [", key)
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(append(dst, "\n        "...), i)
	}
	return append(dst, "\n    ]\n}\n"...)
}

// appendItems appends a list or an object with its brackets.
func appendItems(dst []byte, brackets string, n int, item func(dst []byte, i int) []byte) []byte {
	dst = append(dst, brackets[0])
	for i := range n {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = item(dst, i)
	}
	return append(dst, brackets[1])
}

// appendValues appends the next value of each output, of the dimensions from level on.
func appendValues(dst []byte, ports []interpreter.Port, outputs []*interpreter.Tensor, level int, next []int) []byte {
	if len(outputs) == 1 {
		return appendTensor(dst, ports[0].Key, outputs[0], level, &next[0])
	}
	return appendItems(dst, "{}", len(outputs), func(dst []byte, i int) []byte {
		dst = append(appendText(dst, ports[i].Key), ": "...)
		return appendTensor(dst, ports[i].Key, outputs[i], level, &next[i])
	})
}

// appendTensor appends the value at *next of the dimensions from level on, and moves next past it.
func appendTensor(dst []byte, key string, t *interpreter.Tensor, level int, next *int) []byte {
	if level == len(t.Shape) {
		*next++
		return appendElement(dst, key, t, *next-1)
	}
	return appendItems(dst, "[]", t.Shape[level], func(dst []byte, _ int) []byte {
		return appendTensor(dst, key, t, level+1, next)
	})
}

// appendElement appends element i. A text of an output whose name ends in _bytes is encoded.
func appendElement(dst []byte, key string, t *interpreter.Tensor, i int) []byte {
	switch t.Type {
	case tfpb.DataType_DT_FLOAT:
		return appendFloat(dst, float64(t.Float32[i]), 32)
	case tfpb.DataType_DT_DOUBLE:
		return appendFloat(dst, t.Float64[i], 64)
	case tfpb.DataType_DT_INT32:
		return strconv.AppendInt(dst, int64(t.Int32[i]), 10)
	case tfpb.DataType_DT_INT64:
		return strconv.AppendInt(dst, t.Int64[i], 10)
	case tfpb.DataType_DT_BOOL:
		return strconv.AppendBool(dst, t.Bool[i])
	}
	if !strings.HasSuffix(key, "_bytes") {
		return appendText(dst, view(t.Bytes[i]))
	}
	dst = append(dst, `{"b64": "`...)
	return append(base64.StdEncoding.AppendEncode(dst, t.Bytes[i]), `"}`...)
}

// appendFloat appends a number as TensorFlow Serving does: six digits if they read back, else as many as
// always do. A whole number ends in .0, and what is not finite is bare.
func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', 6, bits)
	if back, _ := strconv.ParseFloat(view(dst[from:]), bits); back != v {
		dst = strconv.AppendFloat(dst[:from], v, 'g', bits/4+1, bits) // 9 and 17 digits
	}
	if strings.ContainsAny(view(dst[from:]), ".e") {
		return dst
	}
	return append(dst, ".0"...)
}

// appendText appends a text in quotes. Bytes that are no UTF-8 become U+FFFD: JSON has no others.
func appendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error tells of such bytes
	return dst
}
