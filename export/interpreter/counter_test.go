package interpreter

import (
	"testing"

	"ringtrain/export/tfpb"
)

// opened returns an open model of export/testdata.
func opened(t *testing.T, path string) *Model {
	t.Helper()
	m, err := Open("../testdata/" + path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// run calls a signature with all of its outputs.
func run(t *testing.T, m *Model, signature string, inputs ...*Tensor) []*Tensor {
	t.Helper()
	p, err := m.Compile(signature, nil)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := p.Run(inputs)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestCounter verifies that requests change a variable of TensorFlow 1 and see each other's changes.
func TestCounter(t *testing.T) {
	m := opened(t, "serving/saved_model_counter/00000123")
	delta := &Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{}, Float32: []float32{2.5}}
	for _, c := range []struct {
		signature string
		inputs    []*Tensor
		want      float32
	}{
		{"get_counter", nil, 0},
		{"incr_counter", nil, 1},
		{"incr_counter_by", []*Tensor{delta}, 3.5},
		{"get_counter", nil, 3.5},
		{"reset_counter", nil, 0},
		{"get_counter", nil, 0},
	} {
		if got := run(t, m, c.signature, c.inputs...); len(got) != 1 || len(got[0].Float32) != 1 || got[0].Float32[0] != c.want {
			t.Errorf("%s: %v, want %g", c.signature, got[0], c.want)
		}
	}
}
