package interpreter

import (
	"encoding/json"
	"os"
	"testing"
)

// TestAnswers verifies that the models that TensorFlow wrote give TensorFlow's answers, in each signature,
// for one record and for three: TF1 and TF2, ref and resource variables, functions, assets, examples.
func TestAnswers(t *testing.T) {
	data, err := os.ReadFile("testdata/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var requests []struct {
		Model, Signature string
		In, Out          map[string]goldenTensor
	}
	if err := json.Unmarshal(data, &requests); err != nil {
		t.Fatal(err)
	}
	models := map[string]*Model{}
	for _, r := range requests {
		if models[r.Model] == nil {
			models[r.Model] = opened(t, r.Model)
		}
		p := compiled(t, models[r.Model], r.Signature)
		inputs := make([]*Tensor, len(p.Inputs))
		for i, port := range p.Inputs {
			inputs[i] = r.In[port.Key].Tensor
		}
		got, err := p.Run(inputs)
		if err != nil {
			t.Errorf("%s: %s: %v", r.Model, r.Signature, err)
			continue
		}
		for i, port := range p.Outputs {
			if err := same(got[i], r.Out[port.Key].Tensor); err != nil {
				t.Errorf("%s: %s: %s: %v", r.Model, r.Signature, port.Key, err)
			}
		}
	}
	if len(models) < 9 {
		t.Errorf("%d models, want 9 or more", len(models))
	}
}
