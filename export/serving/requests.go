package serving

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// asked returns the signature that a request names.
func (v *Version) asked(spec *servingpb.ModelSpec) (*interpreter.Signature, error) {
	name := spec.GetSignatureName()
	if name == "" {
		name = ask.DefaultSignature
	}
	return v.signature(name)
}

// spec returns what an answer says of its origin.
func (v *Version) spec(signature string) *servingpb.ModelSpec {
	return &servingpb.ModelSpec{Name: v.Name, SignatureName: signature,
		VersionChoice: &servingpb.ModelSpec_Version{Version: wrapperspb.Int64(v.Number)}}
}

// Predict answers a request, whatever model and version it names.
func (v *Version) Predict(ctx context.Context, r *servingpb.PredictRequest) (*servingpb.PredictResponse, error) {
	s, err := v.asked(r.GetModelSpec())
	if err != nil {
		return nil, err
	}
	inputs, err := v.tensors(s, r.GetInputs())
	if err != nil {
		return nil, err
	}
	outputs := interpreter.Keys(s.Outputs)
	if filter := r.GetOutputFilter(); len(filter) > 0 {
		outputs = filter
	}
	answers, err := v.Run(ctx, s.Name, outputs, inputs)
	if err != nil {
		return nil, err
	}
	all := map[string]*tfpb.TensorProto{}
	for i, key := range outputs {
		if all[key] != nil {
			return nil, status.Errorf(codes.InvalidArgument, "output_filter has %s twice", phrase.Quote(key))
		}
		all[key] = answers[i].Proto()
	}
	return &servingpb.PredictResponse{ModelSpec: v.spec(s.Name), Outputs: all}, nil
}

// tensors returns the inputs of a request in the order of a signature's.
func (v *Version) tensors(s *interpreter.Signature, given map[string]*tfpb.TensorProto) ([]*interpreter.Tensor, error) {
	want := interpreter.Keys(s.Inputs)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(want, key) {
			return nil, status.Errorf(codes.InvalidArgument, "signature %s has no input %s, want %s%s", s.Name, phrase.Quote(key), phrase.Names(want, ask.MaxNames), phrase.DidYouMean(key, want))
		}
	}
	inputs := make([]*interpreter.Tensor, len(want))
	for i, key := range want {
		p, ok := given[key]
		if !ok {
			return nil, status.Errorf(codes.InvalidArgument, "the request has no input %s of signature %s, want %s", phrase.Quote(key), s.Name, phrase.Names(want, ask.MaxNames))
		}
		t, err := interpreter.FromProto(p, v.cores.Tensor)
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "input %s: %v", phrase.Quote(key), err)
		}
		inputs[i] = t
	}
	return inputs, nil
}

// Classify answers a request, whatever model and version it names.
func (v *Version) Classify(ctx context.Context, r *servingpb.ClassificationRequest) (*servingpb.ClassificationResponse, error) {
	from, all, err := v.results(ctx, classify, r.GetModelSpec(), r.GetInput())
	if err != nil {
		return nil, err
	}
	return &servingpb.ClassificationResponse{ModelSpec: from, Result: &servingpb.ClassificationResult{Classifications: all.classes}}, nil
}

// Regress answers a request, whatever model and version it names.
func (v *Version) Regress(ctx context.Context, r *servingpb.RegressionRequest) (*servingpb.RegressionResponse, error) {
	from, all, err := v.results(ctx, regress, r.GetModelSpec(), r.GetInput())
	if err != nil {
		return nil, err
	}
	return &servingpb.RegressionResponse{ModelSpec: from, Result: &servingpb.RegressionResult{Regressions: all.numbers}}, nil
}

// results answers a request of examples, and says from where.
func (v *Version) results(ctx context.Context, m method, spec *servingpb.ModelSpec, in *servingpb.Input) (from *servingpb.ModelSpec, all results, err error) {
	s, err := v.asked(spec)
	if err != nil { // TensorFlow Serving has another code here than in Predict
		return nil, all, status.Error(codes.InvalidArgument, status.Convert(err).Message())
	}
	all, err = m.run(ctx, v, s, func() (*interpreter.Tensor, error) { return v.encoded(in) })
	return v.spec(s.Name), all, err
}

// encoded returns the examples of a request as the graph takes them. Those of the context come
// first: of a feature that comes twice the last one counts.
func (v *Version) encoded(in *servingpb.Input) (*interpreter.Tensor, error) {
	examples, shared := in.GetExampleList().GetExamples(), []byte(nil)
	if with := in.GetExampleListWithContext(); with != nil {
		text, err := proto.Marshal(with.GetContext())
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		examples, shared = with.GetExamples(), text
	}
	if len(examples) == 0 {
		return nil, status.Error(codes.InvalidArgument, "the input has no examples, want one or more")
	}
	const textBytes = 24 // of memory, beside the text itself
	if most := v.cores.Tensor / textBytes; len(examples) > most {
		return nil, status.Errorf(codes.InvalidArgument, "the input has %d examples, want %d at most", len(examples), most)
	}
	texts := make([][]byte, len(examples))
	for i, e := range examples {
		text, err := proto.MarshalOptions{}.MarshalAppend(slices.Clone(shared), e)
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "example %d: %v", i, err)
		}
		texts[i] = text
	}
	return &interpreter.Tensor{Type: tfpb.DataType_DT_STRING, Shape: []int{len(texts)}, Bytes: texts}, nil
}
