package ask

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
)

// AppendRows appends the answer of a predict request of rows: a value for each row, or an object if there are several
// outputs. All outputs must have the same number of rows.
func AppendRows(dst []byte, ports []interpreter.Port, outputs []*interpreter.Tensor) ([]byte, error) {
	for i, t := range outputs {
		if len(t.Shape) == 0 || t.Shape[0] != outputs[0].Shape[0] {
			return nil, fmt.Errorf("the output %s has the shape %v, which has no row for each instance: ask with inputs in the place of instances", ports[i].Key, t.Shape)
		}
	}
	dst = append(dst, "{\n    \"predictions\": ["...)
	next := make([]int, len(outputs))
	for row := range outputs[0].Shape[0] {
		dst = appendLine(dst, row)
		dst = appendValues(dst, ports, outputs, 1, next)
	}
	return append(dst, "\n    ]\n}\n"...), nil
}

// AppendColumns appends the answer of a predict request of columns: a value, or an object of several.
func AppendColumns(dst []byte, ports []interpreter.Port, outputs []*interpreter.Tensor) []byte {
	dst = append(dst, "{\n    \"outputs\": "...)
	dst = appendValues(dst, ports, outputs, 0, make([]int, len(outputs)))
	return append(dst, "\n}\n"...)
}

// appendLine begins the line of an item of a list.
func appendLine(dst []byte, item int) []byte {
	if item > 0 {
		dst = append(dst, ',')
	}
	return append(dst, "\n        "...)
}

// appendValues appends the next value of each output, of the dimensions from level on.
func appendValues(dst []byte, ports []interpreter.Port, outputs []*interpreter.Tensor, level int, next []int) []byte {
	if len(outputs) == 1 {
		return appendTensor(dst, ports[0].Key, outputs[0], level, &next[0])
	}
	dst = append(dst, '{')
	for i, t := range outputs {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendText(dst, ports[i].Key), ": "...)
		dst = appendTensor(dst, ports[i].Key, t, level, &next[i])
	}
	return append(dst, '}')
}

// appendTensor appends the value at *next of the dimensions from level on, and moves next past it.
func appendTensor(dst []byte, key string, t *interpreter.Tensor, level int, next *int) []byte {
	if level == len(t.Shape) {
		dst = appendElement(dst, key, t, *next)
		*next++
		return dst
	}
	dst = append(dst, '[')
	for i := range t.Shape[level] {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = appendTensor(dst, key, t, level+1, next)
	}
	return append(dst, ']')
}

// appendElement appends element i. A text of an output whose name ends in _bytes is encoded.
func appendElement(dst []byte, key string, t *interpreter.Tensor, i int) []byte {
	switch t.Type {
	case tfpb.DataType_DT_FLOAT:
		return AppendFloat(dst, float64(t.Float32[i]), 32)
	case tfpb.DataType_DT_DOUBLE:
		return AppendFloat(dst, t.Float64[i], 64)
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

// AppendFloat appends a number as TensorFlow Serving does: six digits if they read back, else as many as
// always do. A whole number ends in .0, and what is not finite is bare.
func AppendFloat(dst []byte, v float64, bits int) []byte {
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
		digits := map[int]int{32: 9, 64: 17}[bits]
		dst = strconv.AppendFloat(dst[:from], v, 'g', digits, bits)
	}
	if strings.ContainsAny(view(dst[from:]), ".e") {
		return dst
	}
	return append(dst, ".0"...)
}

// appendText appends a text in quotes. Bytes that are no UTF-8 become U+FFFD: JSON has no others.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// AppendResults appends the answer of a classify request, which has scores, classes or both, or of a
// regress request, which has neither.
func AppendResults(dst []byte, classes, scores, values *interpreter.Tensor) []byte {
	dst = append(dst, "{\n    \"results\": ["...)
	if values != nil {
		for i, v := range values.Float32 {
			dst = AppendFloat(appendLine(dst, i), float64(v), 32)
		}
		return append(dst, "\n    ]\n}\n"...)
	}
	shape := scores
	if shape == nil {
		shape = classes
	}
	for i := range shape.Shape[0] {
		dst = append(appendLine(dst, i), '[')
		for j := range shape.Shape[1] {
			at := i*shape.Shape[1] + j
			label, score := "", float32(0)
			if classes != nil {
				label = view(classes.Bytes[at])
			}
			if scores != nil {
				score = scores.Float32[at]
			}
			if j > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(appendText(append(dst, '['), label), ", "...)
			dst = append(AppendFloat(dst, float64(score), 32), ']')
		}
		dst = append(dst, ']')
	}
	return append(dst, "\n    ]\n}\n"...)
}

// AppendError appends the answer of a request that has failed.
func AppendError(dst []byte, text string) []byte {
	return append(appendText(append(dst, "{\n    \"error\": "...), text), "\n}\n"...)
}
