package ask

import (
	"fmt"
	"maps"

	"google.golang.org/protobuf/proto"

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
	r := newRow(s)
	if context := d.find("context"); context != nil {
		if err := r.object(context); err != nil {
			return nil, within("context", err)
		}
		r.common = maps.Clone(r.features)
	}
	t, err := r.all(c)
	return t, within("examples", err)
}

// row makes serialized tf.Examples of raw values, one after the other.
type row struct {
	known    []interpreter.Feature
	places   map[string]int // in known, by name
	common   map[string]*tfpb.Feature
	features map[string]*tfpb.Feature
}

func newRow(s *interpreter.Signature) *row {
	r := &row{known: s.Features, places: make(map[string]int, len(s.Features)), features: map[string]*tfpb.Feature{}}
	for i, f := range s.Features {
		r.places[f.Name] = i
	}
	return r
}

// find returns the feature of a name, or an error with the name that was probably meant.
func (r *row) find(name string) (*interpreter.Feature, error) {
	if at, ok := r.places[name]; ok {
		return &r.known[at], nil
	}
	names := make([]string, len(r.known))
	for i := range names {
		names[i] = r.known[i].Name
	}
	return nil, &fault{" has", "no column " + phrase.Name(name) + phrase.DidYouMean(name, names)}
}

// all makes an example of each object in a list.
func (r *row) all(c *cursor) (*interpreter.Tensor, error) {
	t := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING}
	err := c.eachItem(func() error {
		err := c.meter.take(rowBytes)
		if err == nil {
			err = r.object(c)
		}
		if err == nil {
			t.Bytes, err = r.end(t.Bytes)
		}
		return err
	})
	t.Shape = []int{len(t.Bytes)}
	return t, err
}

// object sets the features of the object at the cursor. A missing column, null and an empty list are the default.
func (r *row) object(c *cursor) error {
	if c.peek() != '{' {
		return faultf("is %s, want an object of columns", c.shown())
	}
	for key := range c.members() {
		f, err := r.find(key)
		if err != nil {
			return err
		}
		if c.peek() == 'n' {
			c.skip()
			continue
		}
		values := filler{tensor: interpreter.Tensor{Type: f.Type}, column: true}
		err = values.add(c)
		if err == nil {
			err = r.set(f, &values.tensor)
		}
		if err != nil {
			return within("."+phrase.Name(key), err)
		}
	}
	return nil
}

// set sets a feature, unless it has no value. A dense one must have as many as its shape.
func (r *row) set(f *interpreter.Feature, values *interpreter.Tensor) error {
	n := len(values.Float32) + len(values.Int64) + len(values.Bytes)
	if n == 0 {
		return nil
	}
	if f.Kind == interpreter.Dense {
		want := interpreter.Elements(f.Shape)
		if want > 0 && n != want || want < 0 && n%want != 0 {
			return faultf("has %s, want a %s of shape %v", phrase.Count(n, "value"), typeName(f.Type), f.Shape)
		}
	}
	made := &tfpb.Feature{}
	switch f.Type {
	case tfpb.DataType_DT_STRING:
		made.Kind = &tfpb.Feature_BytesList{BytesList: &tfpb.BytesList{Value: values.Bytes}}
	case tfpb.DataType_DT_FLOAT:
		made.Kind = &tfpb.Feature_FloatList{FloatList: &tfpb.FloatList{Value: values.Float32}}
	default:
		made.Kind = &tfpb.Feature_Int64List{Int64List: &tfpb.Int64List{Value: values.Int64}}
	}
	r.features[f.Name] = made
	return nil
}

// end appends the example to dst and begins the next. It must have each feature that has no default.
func (r *row) end(dst [][]byte) ([][]byte, error) {
	for _, f := range r.known {
		if r.features[f.Name] == nil && required(f) {
			return dst, faultf("has no %s, which has no default", phrase.Name(f.Name))
		}
	}
	text, err := proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: r.features}})
	clear(r.features)
	maps.Copy(r.features, r.common)
	return append(dst, text), err
}
