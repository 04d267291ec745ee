package serving

import (
	"context"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// The methods of signatures.
const (
	methodClassify = "tensorflow/serving/classify"
	methodRegress  = "tensorflow/serving/regress"
)

// method is a way to ask for what examples are: their classes, or a number of each.
type method struct {
	name    string
	input   string                   // of the tf.Examples
	outputs map[string]tfpb.DataType // that it may have, at least one
}

// classify returns the method of classes.
func classify() method {
	return method{methodClassify, "inputs", map[string]tfpb.DataType{"classes": tfpb.DataType_DT_STRING, "scores": tfpb.DataType_DT_FLOAT}}
}

// regress returns the method of numbers.
func regress() method {
	return method{methodRegress, "inputs", map[string]tfpb.DataType{"outputs": tfpb.DataType_DT_FLOAT}}
}

// check returns an error if a signature is of another method.
func (m method) check(s *interpreter.Signature) error {
	misfit := func(fact string) error {
		return status.Errorf(codes.InvalidArgument, "the signature %s has %s, want one of the method %s", phrase.Name(s.Name), fact, m.name)
	}
	switch {
	case s.Method != m.name:
		return misfit("the method " + phrase.Quote(s.Method))
	case len(s.Inputs) != 1 || s.Inputs[0].Key != m.input:
		return misfit("other inputs than " + m.input)
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

// run answers examples: each output by its key, a row for each example. All have rows of one length,
// which is 1 of numbers.
func (m method) run(ctx context.Context, v *Version, s *interpreter.Signature, examples *interpreter.Tensor) (map[string]*interpreter.Tensor, error) {
	outputs, err := v.Run(ctx, s.Name, nil, []*interpreter.Tensor{examples})
	if err != nil {
		return nil, err
	}
	n, byKey := examples.Shape[0], map[string]*interpreter.Tensor{}
	for i, t := range outputs {
		rows := len(t.Shape) == 2 && t.Shape[0] == n && slices.Equal(t.Shape, outputs[0].Shape)
		if m.name == methodRegress {
			rows = slices.Equal(t.Shape, []int{n, 1}) || slices.Equal(t.Shape, []int{n})
		}
		if !rows {
			return nil, status.Errorf(codes.InvalidArgument, "the output %s has the shape %v, want a row for each of %d examples", phrase.Name(s.Outputs[i].Key), t.Shape, n)
		}
		byKey[s.Outputs[i].Key] = t
	}
	return byKey, nil
}
