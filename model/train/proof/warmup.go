package proof

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/serving/servingpb"
	"ringtrain/export/tfpb"
	"ringtrain/input"
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
		b, err := p.blockOf(&requests[i])
		if err != nil {
			return nil, err
		}
		text, err := at.log(model, b)
		if err != nil {
			return nil, exitcode.With(exitcode.Internal, fmt.Errorf("%s fails at made-up request %d: %w", at.signature, i+1, err))
		}
		if err := w.Write(text); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), nil
}

// blockOf returns a request as signatures take it.
func (p *Prover) blockOf(q *Request) (*block, error) {
	b := &input.Batch{WantKeys: true}
	all := &block{rows: rows{b, 0, 1}, keys: p.expected.keys}
	if p.of.Plan == nil {
		q.appendTo(b)
		b.X.Bags.Index()
		all.examples = [][]byte{p.examples.ofRow(&all.rows)}
		return all, nil
	}
	if err := p.examples.runner.Append(b, q.cells); err != nil {
		return nil, exitcode.With(exitcode.Internal, fmt.Errorf("a made-up request: %w", err))
	}
	b.X.Bags.Index()
	example, _ := p.examples.ofCells(q.cells)
	all.examples = [][]byte{example}
	return all, nil
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
