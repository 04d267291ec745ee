package main

import (
	"slices"
	"strings"
	"testing"
)

const residualJob = `name: residual
model:
  layers:
    - flatten
    - {name: stem, dense: {units: 16, activation: relu}}
    - {name: b, dense: {units: 16}}
    - {name: sum, in: [stem, b], add: {}}
    - layer_norm
    - dense: {units: 10}
input:      {synthetic: true, batch: 60}
loss:       {kind: softmax}
optimizer:  {name: adam}
train:      {steps: 12}
checkpoint: {dir: ckpt, keep: 9}
`

// TestLayersReachRanks verifies that a list of layers reaches the ranks unchanged by
// file, variable and --set, by the output of --print-options, and from a checkpoint.
func TestLayersReachRanks(t *testing.T) {
	const list = "[flatten, {name: stem, dense: {units: 20, activation: relu}}, {name: b, dense: {units: 20}}, {name: sum, in: [stem, b], add: {}}, layer_norm, {dense: {units: 10}}]"
	sets := []string{"--set", "model.layers.stem.dense.units=20", "--set", "model.layers.2.dense.units=20"}
	b := newBox(t)
	b.write("job.yaml", residualJob)
	want := b.must(0, append([]string{"run", "-np", "2", "--json", "job.yaml"}, sets...)...).digest(t)
	if again := b.must(0, append([]string{"run", "-np", "2", "job.yaml"}, sets...)...); !strings.Contains(again.stderr, "finished at step 12") {
		t.Errorf("the job is not finished with the same layers\n%s", again.stderr)
	}
	b.write("printed.yaml", b.must(0, append([]string{"train", "job.yaml", "--print-options"}, sets...)...).stdout)
	b.write("plain.yaml", strings.Replace(residualJob, "units: 16", "units: 9", 2))
	for name, e := range map[string]ended{
		"printed":  b.must(0, "run", "-np", "2", "--json", "printed.yaml", "--resume", "never"),
		"--set":    b.must(0, "run", "-np", "2", "--json", "plain.yaml", "--resume", "never", "--set", "model.layers="+list),
		"variable": b.with("RINGTRAIN_MODEL_LAYERS="+list).must(0, "run", "-np", "2", "--json", "plain.yaml", "--resume", "never"),
	} {
		if got := e.digest(t); got != want {
			t.Errorf("by %s the layers train to %s, want %s", name, got, want)
		}
	}
	e := b.must(64, "run", "-np", "2", "job.yaml", "--set", "model.layers.stem.dense.units=17", "--resume", "never")
	if want := "job.yaml:7:7: model.layers.sum (add) gets 17 and 16"; !slices.ContainsFunc(strings.Split(e.stderr, "\n"), func(line string) bool { return strings.Contains(line, want) }) {
		t.Errorf("layers that do not fit end with\n%s\nwant %s", e.stderr, want)
	}
}

// TestTooMuchToAgree verifies the error of a job whose options exceed the length that
// ranks can compare.
func TestTooMuchToAgree(t *testing.T) {
	b := newBox(t)
	b.write("job.yaml", "name: "+strings.Repeat("x", 261_500)+"\nmodel: {kind: linear}\ninput: {synthetic: true}\noptimizer: {learning_rate: 0.1}\ntrain: {steps: 1}\n")
	e := b.must(64, "run", "-np", "2", "job.yaml")
	if want := "want at most 261120: options or variables are too many or too long"; !strings.Contains(e.stderr, want) {
		t.Errorf("ended with\n%.2000s\nwant %s", e.stderr, want)
	}
}

// TestJobsShowRefuses verifies that unknown names, options without a name, and layers
// that do not fit drawn records are refused.
func TestJobsShowRefuses(t *testing.T) {
	b := newBox(t)
	b.write("job.yaml", strings.Replace(residualJob, "units: 10", "units: 9", 1))
	for want, args := range map[string][]string{
		"--layers wants the name of a job or of a kind":                        {"jobs", "--layers"},
		`no built-in job or kind of model "vgg", want one of cnn, cnn-small, `: {"jobs", "show", "vgg", "--layers"},
		"the last layer has 9 outputs, want 10":                                {"train", "job.yaml"},
	} {
		if e := b.must(64, args...); !strings.Contains(e.stderr, want) || strings.Count(e.stderr, " linear,") > 1 {
			t.Errorf("%v: error %q, want %q", args, e.stderr, want)
		}
	}
}
