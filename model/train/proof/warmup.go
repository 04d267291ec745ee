package proof

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// WarmUp returns a file of requests to a model, of which each signature gets some, with the answers of the graph: TFRecords of
// PredictionLog.
func (p *Prover) WarmUp(model string, requests []Request) ([]byte, error) {
	var file bytes.Buffer
	w := tfrecord.NewWriter(&file)
	for i := range requests {
		at := &p.programs[i%len(p.programs)]
		b, cells, names := p.batchOf(requests[i : i+1])
		if len(names) == 0 {
			return nil, exitcode.With(exitcode.Internal, fmt.Errorf("the model refuses %s", requests[i].name))
		}
		asked, _ := p.blockOf(b, cells)
		text, err := at.log(model, &asked)
		if err != nil {
			return nil, exitcode.With(exitcode.Internal, fmt.Errorf("%s fails at %s: %w", at.signature, requests[i].name, err))
		}
		if err := w.Write(text); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), nil
}

// log returns the record of a request and its answer.
func (p *program) log(model string, b *block) ([]byte, error) {
	spec := &servingpb.ModelSpec{Name: model, SignatureName: p.signature}
	request := &servingpb.PredictRequest{ModelSpec: spec, Inputs: map[string]*tfpb.TensorProto{}}
	response := &servingpb.PredictResponse{ModelSpec: spec, Outputs: map[string]*tfpb.TensorProto{}}
	inputs, err := p.inputs(b)
	if err != nil {
		return nil, err
	}
	outputs, err := p.Run(inputs)
	if err != nil {
		return nil, err
	}
	for i, t := range inputs {
		request.Inputs[p.Inputs[i].Key] = t.Proto()
	}
	for i, t := range outputs {
		if key := p.Outputs[i].Key; key != "classes" { // of equal scores the order depends on the kernels
			request.OutputFilter, response.Outputs[key] = append(request.OutputFilter, key), t.Proto()
		}
	}
	log := &servingpb.PredictionLog{LogType: &servingpb.PredictionLog_PredictLog{PredictLog: &servingpb.PredictLog{Request: request, Response: response}}}
	return proto.MarshalOptions{Deterministic: true}.Marshal(log)
}
