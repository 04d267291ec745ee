package ask

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// Examples returns the tf.Examples of a classify or regress request, with its context in each of them.
func (d *Document) Examples(s *interpreter.Signature) (*interpreter.Tensor, error) {
	if !TakesExamples(s) {
		return nil, fmt.Errorf("the signature %s takes no tf.Examples", phrase.Name(s.Name))
	}
	c, err := d.list("examples")
	if err != nil {
		return nil, err
	}
	rows := NewRows(s)
	if context := d.find("context"); context != nil {
		if err := rows.object(context); err != nil {
			return nil, within("context", err)
		}
		rows.common, rows.commonSeen = slices.Clone(rows.entries), slices.Clone(rows.seen)
	}
	t, err := examples(c, rows)
	return t, within("examples", err)
}

// examples makes an example of each object in a list.
func examples(c *cursor, rows *Rows) (*interpreter.Tensor, error) {
	t := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING}
	err := c.eachItem(func() (err error) {
		rows.begin()
		if err = rows.object(c); err == nil {
			t.Bytes, err = rows.end(t.Bytes)
		}
		return err
	})
	t.Shape = []int{len(t.Bytes)}
	return t, err
}

// Rows makes serialized tf.Examples of raw values, one example after the other.
type Rows struct {
	features []interpreter.Feature
	byName   map[string]int
	names    []string

	common     []byte // entries that are in each example
	commonSeen []bool
	entries    []byte // of the example that is made
	seen       []bool // features that it has
	list       []byte // of the feature that is made
	outer      []byte
}

// NewRows returns a maker of the examples that a signature takes.
func NewRows(s *interpreter.Signature) *Rows {
	r := &Rows{features: s.Features, byName: make(map[string]int, len(s.Features)), seen: make([]bool, len(s.Features))}
	for i, f := range s.Features {
		r.byName[f.Name] = i
		r.names = append(r.names, f.Name)
	}
	return r
}

// begin begins an example.
func (r *Rows) begin() {
	r.entries = append(r.entries[:0], r.common...)
	clear(r.seen)
	copy(r.seen, r.commonSeen)
}

// find returns the number of the feature of a name, or an error with the name that was probably meant.
func (r *Rows) find(name string) (int, error) {
	if at, ok := r.byName[name]; ok {
		return at, nil
	}
	return 0, fmt.Errorf("no column %s%s", phrase.Name(name), phrase.DidYouMean(name, r.names))
}

// end appends the example to dst. It must have each feature that has no default.
func (r *Rows) end(dst [][]byte) ([][]byte, error) {
	for i, f := range r.features {
		if !r.seen[i] && Required(f) {
			return dst, &fault{"", fmt.Sprintf("has no %s, which has no default", f.Name)}
		}
	}
	example := protowire.AppendTag(nil, 1, protowire.BytesType)
	return append(dst, protowire.AppendBytes(example, r.entries)), nil
}

// The fields of tensorflow.Feature.
const (
	bytesList protowire.Number = 1
	floatList protowire.Number = 2
	int64List protowire.Number = 3
)

// kinds are the lists that features are parsed from.
var kinds = map[tfpb.DataType]protowire.Number{
	tfpb.DataType_DT_STRING: bytesList, tfpb.DataType_DT_FLOAT: floatList, tfpb.DataType_DT_INT64: int64List,
}

// object adds the features of the object at the cursor. A missing column, null and an empty list are the default.
func (r *Rows) object(c *cursor) error {
	if c.peek() != '{' {
		return &fault{"", "is " + c.shown() + ", want an object of columns"}
	}
	for key := range c.members() {
		feature, err := r.find(key)
		if err != nil {
			return &fault{" has", err.Error()}
		}
		if c.peek() == 'n' {
			c.skip()
			continue
		}
		r.list = r.list[:0]
		kind := kinds[r.features[feature].Type]
		n, err := r.values(c, kind, 0)
		if err == nil && n > 0 {
			err = r.counted(feature, n)
		}
		if err != nil {
			return within("."+phrase.Name(key), err)
		}
		if n > 0 {
			r.entry(key, kind)
		}
	}
	return nil
}

// counted verifies the number of values of a feature, and marks it as seen.
func (r *Rows) counted(feature, n int) error {
	f := &r.features[feature]
	r.seen[feature] = true
	if f.Kind != interpreter.Dense {
		return nil
	}
	want, varies := 1, false
	for _, d := range f.Shape {
		if d < 0 {
			varies = true
		} else {
			want *= d
		}
	}
	switch {
	case varies && want > 0 && n%want != 0:
		return &fault{"", fmt.Sprintf("has %s, want a multiple of %d", phrase.Count(n, "value"), want)}
	case !varies && n != want:
		return &fault{"", fmt.Sprintf("has %s, want %d", phrase.Count(n, "value"), want)}
	}
	return nil
}

// entry adds the feature whose list has been made.
func (r *Rows) entry(name string, kind protowire.Number) {
	list := r.list
	if kind != bytesList && len(list) > 0 { // numbers are packed
		r.outer = protowire.AppendBytes(protowire.AppendTag(r.outer[:0], 1, protowire.BytesType), list)
		list = r.outer
	}
	feature := protowire.SizeTag(kind) + protowire.SizeBytes(len(list))
	r.entries = protowire.AppendTag(r.entries, 1, protowire.BytesType)
	r.entries = protowire.AppendVarint(r.entries, uint64(protowire.SizeTag(1)+protowire.SizeBytes(len(name))+protowire.SizeTag(2)+protowire.SizeBytes(feature)))
	r.entries = protowire.AppendString(protowire.AppendTag(r.entries, 1, protowire.BytesType), name)
	r.entries = protowire.AppendVarint(protowire.AppendTag(r.entries, 2, protowire.BytesType), uint64(feature))
	r.entries = protowire.AppendBytes(protowire.AppendTag(r.entries, kind, protowire.BytesType), list)
}

// values appends the value at the cursor, or those of a list, and returns their number.
func (r *Rows) values(c *cursor, kind protowire.Number, level int) (int, error) {
	if c.peek() != '[' {
		at := *c
		if want := r.value(c, kind); want != "" {
			return 0, &fault{"", "is " + at.shown() + ", want " + want}
		}
		return 1, nil
	}
	if level == maxDepth {
		return 0, &fault{"", fmt.Sprintf("is a list in %d lists, want fewer", level)}
	}
	n := 0
	err := c.eachItem(func() error {
		more, err := r.values(c, kind, level+1)
		n += more
		return err
	})
	return n, err
}

// value appends one value, and returns what is wanted if it is something else. true and false are 1 and 0;
// a number for a text is the text of the number.
func (r *Rows) value(c *cursor, kind protowire.Number) (want string) {
	first := c.peek()
	if kind == bytesList {
		text, ok := c.bytes()
		if !ok && (isNumber(first) || first == 't' || first == 'f') {
			text, ok = c.word(), true
		}
		if !ok {
			return wants[tfpb.DataType_DT_STRING]
		}
		r.text(text)
		return ""
	}
	switch {
	case first == 't' || first == 'f':
		c.skip()
		if first == 't' {
			return r.number("1", kind)
		}
		return r.number("0", kind)
	case isNumber(first):
		return r.number(view(c.word()), kind)
	}
	return "a number"
}

func (r *Rows) text(text []byte) {
	r.list = protowire.AppendBytes(protowire.AppendTag(r.list, 1, protowire.BytesType), text)
}

// number appends a number as a float or as an integer.
func (r *Rows) number(text string, kind protowire.Number) (want string) {
	if kind == floatList {
		v, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return "a number that a float holds"
		}
		r.list = binary.LittleEndian.AppendUint32(r.list, math.Float32bits(float32(v)))
		return ""
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrSyntax) { // 31.0 and 3.1e1 are whole, too
		var f float64
		if f, err = strconv.ParseFloat(text, 64); err == nil && (f != math.Trunc(f) || math.Abs(f) >= 1<<63) {
			return "a whole number"
		}
		v = int64(f)
	}
	if err != nil {
		return "a whole number of 64 bits"
	}
	r.list = protowire.AppendVarint(r.list, uint64(v))
	return ""
}
