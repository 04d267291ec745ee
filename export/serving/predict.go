package serving

import (
	"bytes"
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
)

// predictJSON answers a request in JSON. An error without a status is a fault of the body.
func predictJSON(ctx context.Context, v *Version, api string, text []byte, take ask.Meter) (reply, error) {
	d, err := ask.Parse(text, take)
	if err != nil {
		return reply{}, err
	}
	name, err := d.Signature()
	if err != nil {
		return reply{}, err
	}
	s, err := v.signature(name)
	if err != nil {
		return reply{}, err
	}
	if m, ok := methods[api]; ok {
		all, err := m.run(ctx, v, s, func() (*interpreter.Tensor, error) { return d.Examples(s) })
		return reply{text: ask.AppendResults(nil, all.classes, all.numbers)}, err
	}
	inputs, rows, err := d.Inputs(s)
	if err != nil {
		return reply{}, err
	}
	outputs, err := v.Run(ctx, s.Name, nil, inputs)
	if err != nil {
		return reply{}, err
	}
	if !rows {
		return reply{text: ask.AppendColumns(nil, s.Outputs, outputs)}, nil
	}
	text, err = ask.AppendRows(nil, s.Outputs, outputs)
	return reply{text: text}, err
}

// predictTable answers records of CSV by what a request without a signature asks, and by the columns that the
// signature predict hands on.
func predictTable(ctx context.Context, v *Version, _ string, text []byte, take ask.Meter) (reply, error) {
	s := ask.Usual(v.Model)
	if s == nil {
		return reply{}, status.Errorf(codes.FailedPrecondition, "version %d of %s has no signature with inputs", v.Number, v.Name)
	}
	inputs, err := ask.ReadTable(text, s, v.columns, take)
	if err != nil {
		return reply{}, err
	}
	run := func(s *interpreter.Signature, outputs []string) ([]*interpreter.Tensor, error) {
		return v.Run(ctx, s.Name, outputs, inputs)
	}
	outputs, err := run(s, nil)
	if err != nil {
		return reply{}, err
	}
	answers, err := v.columns.Answers(v.Model, s.Outputs, outputs, 0, run)
	if err != nil {
		return reply{}, err
	}
	var b bytes.Buffer
	err = answers.Write(&b)
	return reply{b.Bytes(), "text/csv; charset=utf-8"}, err
}
