package serving

import (
	"context"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// method is a way to ask for what examples are: their classes, or a number of each.
type method struct {
	name    string
	outputs map[string]tfpb.DataType // that it may have, at least one
}

// The methods of signatures that take examples.
var (
	classify = method{"tensorflow/serving/classify", map[string]tfpb.DataType{"classes": tfpb.DataType_DT_STRING, "scores": tfpb.DataType_DT_FLOAT}}
	regress  = method{"tensorflow/serving/regress", map[string]tfpb.DataType{"outputs": tfpb.DataType_DT_FLOAT}}
)

// methods are those by the words of TensorFlow Serving for their requests; all others are Predict.
var methods = map[string]method{"Classify": classify, "Regress": regress}

// results are what examples are: the classes of each, or a number.
type results struct {
	classes []*servingpb.Classifications
	numbers []*servingpb.Regression
}

// check returns an error if a signature is of another method.
func (m method) check(s *interpreter.Signature) error {
	const input = "inputs"
	misfit := func(fact string) error {
		return status.Errorf(codes.InvalidArgument, "the signature %s has %s, want one of the method %s", phrase.Name(s.Name), fact, m.name)
	}
	switch {
	case s.Method != m.name:
		return misfit("the method " + phrase.Quote(s.Method))
	case len(s.Inputs) != 1 || s.Inputs[0].Key != input:
		return misfit("other inputs than " + input)
	case len(s.Outputs) == 0 || len(s.Outputs) > len(m.outputs):
		return misfit("another number of outputs")
	}
	for _, o := range s.Outputs {
		if m.outputs[o.Key] != o.Type {
			return misfit("the output " + phrase.Name(o.Key) + " of type " + o.Type.String())
		}
	}
	return nil
}

// run answers examples by a signature, if it is of the method. All outputs have a row for each example; all rows have one
// length, which is 1 of numbers.
func (m method) run(ctx context.Context, v *Version, s *interpreter.Signature, read func() (*interpreter.Tensor, error)) (all results, err error) {
	if err := m.check(s); err != nil {
		return all, err
	}
	examples, err := read()
	if err != nil {
		return all, err
	}
	outputs, err := v.Run(ctx, s.Name, nil, []*interpreter.Tensor{examples})
	if err != nil {
		return all, err
	}
	n, byKey := examples.Shape[0], map[string]*interpreter.Tensor{}
	for i, t := range outputs {
		rows := len(t.Shape) == 2 && t.Shape[0] == n && slices.Equal(t.Shape, outputs[0].Shape)
		if m.name == regress.name {
			rows = slices.Equal(t.Shape, []int{n, 1}) || slices.Equal(t.Shape, []int{n})
		}
		if !rows {
			return all, status.Errorf(codes.InvalidArgument, "the output %s has the shape %v, want a row for each of %d examples", phrase.Name(s.Outputs[i].Key), t.Shape, n)
		}
		byKey[s.Outputs[i].Key] = t
	}
	if y := byKey["outputs"]; y != nil {
		for _, v := range y.Float32 {
			all.numbers = append(all.numbers, &servingpb.Regression{Value: v})
		}
		return all, nil
	}
	classes, scores, width := byKey["classes"], byKey["scores"], outputs[0].Shape[1]
	for i := range n {
		row := &servingpb.Classifications{Classes: make([]*servingpb.Class, width)}
		for j := range width {
			row.Classes[j] = &servingpb.Class{}
			if classes != nil {
				row.Classes[j].Label = string(classes.Bytes[i*width+j])
			}
			if scores != nil {
				row.Classes[j].Score = scores.Float32[i*width+j]
			}
		}
		all.classes = append(all.classes, row)
	}
	return all, nil
}
