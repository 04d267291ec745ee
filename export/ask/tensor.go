package ask

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"unsafe"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
)

// fault is an error about a value of a body: where it is, and how it is not as it should be.
type fault struct{ where, text string }

func (f *fault) Error() string { return f.where + " " + f.text }

// within adds where the value is that an error is about: a key or [3].
func within(where string, err error) error {
	if f, ok := errors.AsType[*fault](err); ok {
		return &fault{where + f.where, f.text}
	}
	return err
}

// wants are the values of each type, in messages. A type that is not here has no JSON.
var wants = map[tfpb.DataType]string{
	tfpb.DataType_DT_FLOAT: "a number that a float holds", tfpb.DataType_DT_DOUBLE: "a number that a double holds",
	tfpb.DataType_DT_INT32: "a whole number of 32 bits", tfpb.DataType_DT_INT64: "a whole number of 64 bits",
	tfpb.DataType_DT_BOOL: "true or false", tfpb.DataType_DT_STRING: `a text or {"b64": TEXT}`,
}

// filler makes a tensor of a type out of values, which are numbers or lists of one shape.
type filler struct {
	tensor interpreter.Tensor
	shape  []int // of each value, -1 where no list of a level has ended
	ranked bool  // the first scalar or empty list has told the length of shape
	values int
}

// add appends the value at the cursor, and moves past it.
func (f *filler) add(c *cursor) error {
	f.values++
	return f.value(c, 0)
}

func (f *filler) value(c *cursor, level int) error {
	if c.peek() != '[' {
		if f.ranked && level != len(f.shape) {
			return &fault{"", fmt.Sprintf("is %s, want a list: lists before nest %d deep", c.shown(), len(f.shape))}
		}
		f.ranked = true
		return f.scalar(c)
	}
	if level == len(f.shape) {
		if level == maxDepth {
			return &fault{"", fmt.Sprintf("is a list in %d lists, want fewer", level)}
		}
		if f.ranked {
			return &fault{"", fmt.Sprintf("is a list, want %s: values before nest %d deep", wants[f.tensor.Type], level)}
		}
		f.shape = append(f.shape, -1)
	}
	n := 0
	err := c.eachItem(func() error {
		n++
		return f.value(c, level+1)
	})
	if err != nil {
		return err
	}
	switch want := f.shape[level]; {
	case want < 0:
		f.shape[level] = n
		f.ranked = true
	case n != want:
		return &fault{"", fmt.Sprintf("has %d values, want %d as those before have", n, want)}
	}
	return nil
}

// scalar appends one element.
func (f *filler) scalar(c *cursor) error {
	at, ok := *c, false
	switch t := &f.tensor; t.Type {
	case tfpb.DataType_DT_FLOAT:
		ok = appendNumber(&t.Float32, c, 32)
	case tfpb.DataType_DT_DOUBLE:
		ok = appendNumber(&t.Float64, c, 64)
	case tfpb.DataType_DT_INT32:
		ok = appendWhole(&t.Int32, c, 32)
	case tfpb.DataType_DT_INT64:
		ok = appendWhole(&t.Int64, c, 64)
	case tfpb.DataType_DT_BOOL:
		first := c.peek()
		ok = first == 't' || first == 'f'
		t.Bool = append(t.Bool, first == 't')
		c.skip()
	case tfpb.DataType_DT_STRING:
		var text []byte
		text, ok = c.bytes()
		t.Bytes = append(t.Bytes, text)
	default:
		return &fault{"", fmt.Sprintf("is of type %v, which JSON cannot give here", t.Type)}
	}
	if !ok {
		return &fault{"", fmt.Sprintf("is %s, want %s", at.shown(), wants[f.tensor.Type])}
	}
	return nil
}

// appendNumber appends the number at the cursor. A whole number must be held exactly.
func appendNumber[T float32 | float64](dst *[]T, c *cursor, bits int) bool {
	if !isNumber(c.peek()) {
		return false
	}
	word := c.word()
	v, err := strconv.ParseFloat(view(word), bits)
	if err != nil {
		return false
	}
	*dst = append(*dst, T(v))
	const minInexact = 8 // digits
	if len(word) < minInexact {
		return true
	}
	whole, err := strconv.ParseInt(view(word), 10, 64)
	return err != nil || v < 1<<63 && int64(v) == whole
}

func appendWhole[T int32 | int64](dst *[]T, c *cursor, bits int) bool {
	if !isNumber(c.peek()) {
		return false
	}
	v, err := strconv.ParseInt(view(c.word()), 10, bits)
	*dst = append(*dst, T(v))
	return err == nil
}

// isNumber reports whether a number begins with b: NaN and Infinity do with a capital.
func isNumber(b byte) bool { return b == '-' || '0' <= b && b <= '9' || b == 'N' || b == 'I' }

// view returns b as a string without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytes returns the text at the cursor, which is in quotes or {"b64": TEXT}, and moves past it.
func (c *cursor) bytes() ([]byte, bool) {
	if c.peek() == '"' {
		return c.string(), true
	}
	encoded, ok := c.base64()
	if !ok {
		return nil, false
	}
	text, err := base64.RawStdEncoding.AppendDecode([]byte{}, bytes.TrimRight(encoded, "="))
	return text, err == nil
}

// base64 returns TEXT of {"b64": TEXT} and moves past it. It stays where it is if something else is there.
func (c *cursor) base64() ([]byte, bool) {
	if c.peek() != '{' {
		return nil, false
	}
	at, keys := *c, 0
	var text []byte
	for key := range at.members() {
		keys++
		if keys > 1 || key != "b64" || at.peek() != '"' {
			return nil, false
		}
		text = at.string()
	}
	*c = at
	return text, keys == 1
}
