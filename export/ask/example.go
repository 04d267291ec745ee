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
func (d Document) Examples(s *interpreter.Signature) (*interpreter.Tensor, error) {
	if !TakesExamples(s) {
		return nil, fmt.Errorf("the signature %s takes no tf.Examples", phrase.Name(s.Name))
	}
	list, err := d.list("examples")
	if err != nil {
		return nil, err
	}
	r := newRow(s.Features)
	if context, ok := d["context"]; ok {
		if err := r.object(newCursor(context)); err != nil {
			return nil, within("context", err)
		}
		r.common = maps.Clone(r.features)
	}
	t, err := r.all(list)
	return t, within("examples", err)
}

// row makes the inputs of records of raw values, one after the other: serialized tf.Examples, or a value for each input.
type row struct {
	known    []interpreter.Feature
	plain    bool           // known are inputs, and not features of tf.Examples
	places   map[string]int // in known, by name
	common   map[string]*interpreter.Tensor
	features map[string]*interpreter.Tensor
	example  map[string]*tfpb.Feature
}

func newRow(known []interpreter.Feature) *row {
	r := &row{known: known, places: make(map[string]int, len(known)), features: map[string]*interpreter.Tensor{}, example: map[string]*tfpb.Feature{}}
	for i, f := range known {
		r.places[f.Name] = i
	}
	return r
}

// rowOf returns the row of a signature that takes tf.Examples, or inputs of one value a record each.
func rowOf(s *interpreter.Signature) (*row, error) {
	if TakesExamples(s) {
		return newRow(s.Features), nil
	}
	var known []interpreter.Feature
	for _, p := range s.Inputs {
		if len(p.Shape) != 1 && !(len(p.Shape) == 2 && p.Shape[1] == 1) || wants[p.Type] == "" {
			return nil, fmt.Errorf("the input %s is %s of the shape %v, and a cell has one value: want JSON", phrase.Name(p.Key), typeName(p.Type), p.Shape)
		}
		known = append(known, interpreter.Feature{Name: p.Key, Type: p.Type, Kind: interpreter.Dense, Shape: p.Shape[1:]})
	}
	r := newRow(known)
	r.plain = true
	return r, nil
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
func (r *row) all(list []byte) (*interpreter.Tensor, error) {
	t, c := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING}, newCursor(list)
	err := c.list(func() error {
		if err := r.object(c); err != nil {
			return err
		}
		inputs, err := r.end()
		if err == nil {
			t.Bytes = append(t.Bytes, inputs[0].Bytes...)
		}
		return err
	})
	t.Shape = []int{len(t.Bytes)}
	return t, err
}

// object sets the features of the object at the cursor. A missing column, null and an empty list are the default.
func (r *row) object(c *cursor) error {
	return c.object(func(key string) error {
		f, err := r.find(key)
		if err != nil {
			return err
		}
		if c.PeekKind() == 'n' {
			return c.SkipValue()
		}
		values := filler{tensor: interpreter.Tensor{Type: f.Type}, column: true}
		err = values.add(c)
		if err == nil {
			err = r.set(f, &values.tensor)
		}
		return within("."+phrase.Name(f.Name), err)
	})
}

// set sets a feature, unless it has no value. A dense one must have as many as its shape.
func (r *row) set(f *interpreter.Feature, values *interpreter.Tensor) error {
	n := len(values.Float32) + len(values.Float64) + len(values.Int32) + len(values.Int64) + len(values.Bool) + len(values.Bytes)
	if n == 0 {
		return nil
	}
	if f.Kind == interpreter.Dense {
		want := interpreter.Elements(f.Shape)
		if want > 0 && n != want || want < 0 && n%want != 0 {
			return faultf("has %s, want a %s of shape %v", phrase.Count(n, "value"), typeName(f.Type), f.Shape)
		}
	}
	r.features[f.Name] = values
	return nil
}

// end returns the inputs of the record and begins the next one. It must have each feature that has no default.
func (r *row) end() (inputs []*interpreter.Tensor, err error) {
	clear(r.example)
	for _, f := range r.known {
		t := r.features[f.Name]
		switch {
		case t == nil && required(f):
			return nil, faultf("has no %s, which has no default", phrase.Name(f.Name))
		case r.plain:
			t.Shape = append([]int{1}, f.Shape...)
			inputs = append(inputs, t)
		case t != nil:
			r.example[f.Name] = Feature(t)
		}
	}
	if !r.plain {
		var text []byte
		text, err = proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: r.example}})
		inputs = []*interpreter.Tensor{{Type: tfpb.DataType_DT_STRING, Shape: []int{1}, Bytes: [][]byte{text}}}
	}
	clear(r.features)
	maps.Copy(r.features, r.common)
	return inputs, err
}

// Feature returns values as the feature of an example.
func Feature(t *interpreter.Tensor) *tfpb.Feature {
	switch t.Type {
	case tfpb.DataType_DT_STRING:
		return &tfpb.Feature{Kind: &tfpb.Feature_BytesList{BytesList: &tfpb.BytesList{Value: t.Bytes}}}
	case tfpb.DataType_DT_FLOAT:
		return &tfpb.Feature{Kind: &tfpb.Feature_FloatList{FloatList: &tfpb.FloatList{Value: t.Float32}}}
	}
	return &tfpb.Feature{Kind: &tfpb.Feature_Int64List{Int64List: &tfpb.Int64List{Value: t.Int64}}}
}
