package job

import (
	"fmt"
	"reflect"
	"ringtrain/model"
	"ringtrain/ring/exitcode"
	"strings"
	"testing"
)

const layersFile = `
name: digits
model:
  layers:
    - flatten
    - {name: stem, dense: {units: 12, activation: relu}}
    - name: b
      dense:
        units: 12
    - {name: sum, in: [stem, b], add: {}}
    - layer_norm
    - {name: top, dense: {units: 10}}
input:     {synthetic: true, batch: 50}
loss:      {kind: softmax}
optimizer: {name: adam}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`

// TestOneFault verifies that layers which are no list are the only fault, and that an empty name
// sets no item.
func TestOneFault(t *testing.T) {
	const rest = "\nloss: {kind: softmax}\noptimizer: {learning_rate: 0.1}\ninput: {synthetic: true}\n"
	for _, c := range []struct{ text, set, want string }{
		{"model: {layers: flatten}" + rest, "", "job.yaml:1:17: model.layers is flatten, want a list"},
		{"model: {layers: [flatten, {dense: {units: 10}}]}" + rest, "model.layers..dense.units=3",
			`--set model.layers..dense.units: no item "" in model.layers, want 0 to 1`},
	} {
		var sets []string
		if c.set != "" {
			sets = []string{c.set}
		}
		if _, err := load(t, c.text, nil, sets); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestDeepConcat verifies that the outputs of a model of many joined layers are computed at once,
// although the number of their paths doubles with each layer.
func TestDeepConcat(t *testing.T) {
	var b strings.Builder
	b.WriteString("model:\n  layers:\n    - {name: l0, dense: {units: 1}}\n")
	for i := range 62 {
		fmt.Fprintf(&b, "    - {name: l%d, in: [l%d, l%d], concat: {}}\n", i+1, i, i)
	}
	b.WriteString("loss: {kind: softmax}\noptimizer: {learning_rate: 0.1}\ninput: {synthetic: true}\n")
	job, err := load(t, b.String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := job.Model.Head(job.Loss).Classes; got != 1<<62 {
		t.Errorf("%d classes, want %d", got, 1<<62)
	}
}

// TestPlacesSurvive verifies that a copied job keeps the places of its layers.
func TestPlacesSurvive(t *testing.T) {
	loaded, err := load(t, layersFile, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	job := *loaded
	err = job.Locate(&model.LayerError{Item: 3, Name: "sum", Kind: "add", Err: exitcode.With(exitcode.BadData, errText("is x"))})
	if exitcode.Of(err) != exitcode.BadData || !strings.HasSuffix(err.Error(), "job.yaml:10:7: model.layers.sum (add) is x") {
		t.Errorf("error is %v (%d), want its place and code", err, exitcode.Of(err))
	}
}

type errText string

func (e errText) Error() string { return string(e) }

// TestLayersFile verifies that a printed job with layers loads as the same job, with places of its layers.
func TestLayersFile(t *testing.T) {
	job, err := load(t, layersFile, nil, []string{"model.layers.stem.dense.units=16", "model.layers.2.dense.units=16"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := job.File()
	if err != nil {
		t.Fatal(err)
	}
	again, err := load(t, string(file), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.places) == 0 {
		t.Error("the printed job has no places of its layers")
	}
	job.places, again.places = nil, nil
	if !reflect.DeepEqual(again, job) {
		t.Errorf("the job\n%s\nloads as\n%+v\nwant\n%+v", file, again, job)
	}
}
