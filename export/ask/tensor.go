package ask

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
)

// fault is an error about a value: where it is, and how it is not as it should be.
type fault struct{ where, text string }

func (f *fault) Error() string { return f.where + " " + f.text }

// faultf returns a fault at a place that is not known yet.
func faultf(format string, args ...any) error { return &fault{"", fmt.Sprintf(format, args...)} }

// within adds where the value is that an error is about: a key or [3].
func within(where string, err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		return &fault{where + f.where, f.text}
	}
	return err
}

// wants are the values of each type, in messages. A type that is not here has no JSON.
var wants = map[tfpb.DataType]string{
	tfpb.DataType_DT_FLOAT: "a number", tfpb.DataType_DT_DOUBLE: "a number",
	tfpb.DataType_DT_INT32: "a whole number of 32 bits", tfpb.DataType_DT_INT64: "a whole number of 64 bits",
	tfpb.DataType_DT_BOOL: "true or false", tfpb.DataType_DT_STRING: `a text or {"b64": TEXT}`,
}

// filler makes a tensor of a type out of values, which are numbers or lists of one shape.
type filler struct {
	tensor interpreter.Tensor
	shape  []int // of each value, -1 where no list of a level has ended
	ranked bool  // the first scalar or empty list has told the length of shape
	values int
	column bool // the type is that of a column: true is 1, 31.0 is 31, and a number is a text
}

// add appends the value at the cursor, and moves past it.
func (f *filler) add(c *cursor) error {
	f.values++
	return f.value(c, 0)
}

func (f *filler) value(c *cursor, level int) error {
	if c.PeekKind() != '[' {
		text, err := c.raw()
		if err != nil {
			return err
		}
		if f.ranked && level != len(f.shape) {
			return faultf("is %s, want a list: lists before nest %d deep", shown(text), len(f.shape))
		}
		f.ranked = true
		return f.scalar(text)
	}
	if level == len(f.shape) {
		if f.ranked || level == maxDepth {
			return faultf("is a list, want %s at depth %d", wants[f.tensor.Type], level)
		}
		f.shape = append(f.shape, -1)
	}
	n := 0
	err := c.list(func() error {
		n++
		return f.value(c, level+1)
	})
	want := f.shape[level]
	switch {
	case err != nil:
		return err
	case want < 0:
		f.shape[level] = n
		f.ranked = true
	case n != want:
		return faultf("has %d values, want %d as those before have", n, want)
	}
	return nil
}

// scalar appends one element, which is a value of JSON.
func (f *filler) scalar(text []byte) error {
	ok := false
	switch t := &f.tensor; t.Type {
	case tfpb.DataType_DT_FLOAT:
		ok = appendNumber(&t.Float32, f.number(text))
	case tfpb.DataType_DT_DOUBLE:
		ok = appendNumber(&t.Float64, f.number(text))
	case tfpb.DataType_DT_INT32:
		ok = appendWhole(&t.Int32, f.number(text), 32, f.column)
	case tfpb.DataType_DT_INT64:
		ok = appendWhole(&t.Int64, f.number(text), 64, f.column)
	case tfpb.DataType_DT_BOOL:
		ok = view(text) == "true" || view(text) == "false"
		t.Bool = append(t.Bool, text[0] == 't')
	case tfpb.DataType_DT_STRING:
		var b []byte
		b, ok = bytesOf(text)
		if !ok && f.column && f.number(text) != "" {
			b, ok = text, true
		}
		t.Bytes = append(t.Bytes, b)
	default:
		return faultf("is of type %v, which JSON cannot give here", t.Type)
	}
	if !ok {
		want := wants[f.tensor.Type]
		if text[0] == '"' {
			if _, err := strconv.ParseFloat(string(unquoted(text)), 64); err == nil {
				want += " without quotes"
			}
		}
		return faultf("is %s, want %s", shown(text), want)
	}
	return nil
}

// number returns a value that is a number, "" if it is none.
func (f *filler) number(text []byte) string {
	switch b := text[0]; {
	case b == '-' && len(text) > 1 && text[1] == 'N': // RapidJSON reads -NaN
		return "NaN"
	case b == '-' || b == '+' || b == '.' || '0' <= b && b <= '9' || b == 'N' || b == 'I':
		return view(text)
	case f.column && b == 't':
		return "1"
	case f.column && b == 'f':
		return "0"
	}
	return ""
}

// appendNumber appends a number. As in TensorFlow Serving it is read as a double, and what a float does not hold is rounded
// or infinite.
func appendNumber[T float32 | float64](dst *[]T, text string) bool {
	v, err := strconv.ParseFloat(text, 64)
	*dst = append(*dst, T(v))
	return err == nil
}

// appendWhole appends a whole number, which may have a point or an exponent if it is rounded.
func appendWhole[T int32 | int64](dst *[]T, text string, bits int, rounded bool) bool {
	v, err := strconv.ParseInt(text, 10, bits)
	if rounded && errors.Is(err, strconv.ErrSyntax) {
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		v = int64(f)
		if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
			return false
		}
	}
	*dst = append(*dst, T(v))
	return err == nil && int64(T(v)) == v
}

// encodedKey is the key of an object that stands for a text: {"b64": TEXT}.
const encodedKey = "b64"

// bytesOf returns the text of a value that is in quotes or encoded.
func bytesOf(value []byte) (text []byte, ok bool) {
	if value[0] == '"' {
		return unquoted(value), true
	}
	c := newCursor(value)
	if _, key := c.enter(); key != encodedKey || c.PeekKind() != '"' {
		return nil, false
	}
	encoded, err := c.raw()
	if err != nil || c.PeekKind() != '}' {
		return nil, false
	}
	text, err = base64.RawStdEncoding.AppendDecode([]byte{}, bytes.TrimRight(unquoted(encoded), "="))
	return text, err == nil
}
