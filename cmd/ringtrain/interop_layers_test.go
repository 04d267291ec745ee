package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringtrain/export/savedmodel/interop"
)

// TestInteropCNN verifies that TensorFlow continues the training of the cnn from a
// checkpoint, with its own graph of the same variables and its own Adam.
func TestInteropCNN(t *testing.T) {
	tf := interop.Start(t)
	data := shared(t)
	b := newBox(t)
	b.must(0, "run", "-np", "2", "mnist", "--data", data, "--set", "model.kind=cnn", "--set", "loss.reduction=mean",
		"--set", "optimizer.name=adam", "--set", "optimizer.learning_rate=0.001", "--set", "schedule.kind=constant",
		"--set", "train.steps=60", "--set", "export.savedmodel=", "--set", "input.eval.format=", "--set", "input.eval.images=", "--set", "input.eval.labels=")
	report := b.tensorFlow(tf, "train_cnn.py", "ckpt/mnist",
		"--images", filepath.Join(data, "mnist", "train-images-idx3-ubyte.gz"), "--labels", filepath.Join(data, "mnist", "train-labels-idx1-ubyte.gz"))
	if report.num("step") != 60 || len(report.list("losses")) != 10 {
		t.Errorf("TensorFlow reports %v, want ten steps from step 60", report)
	}
}

const headedJob = `
name: residual
model:
  layers:
    - {name: stem, conv2d: {filters: 8, kernel: 3, padding: same, activation: relu}}
    - {name: pool, max_pool2d: {}}
    - layer_norm
    - {name: b, conv2d: {filters: 8, kernel: 3, padding: same}}
    - {name: sum, in: [pool, b], add: {}}
    - flatten
    - {name: HEAD, dense: {units: 10}}
input:
  train: {format: idx, images: mnist/train-images-idx3-ubyte.gz, labels: mnist/train-labels-idx1-ubyte.gz}
  eval:  {format: idx, images: mnist/t10k-images-idx3-ubyte.gz, labels: mnist/t10k-labels-idx1-ubyte.gz}
optimizer: {name: adam, learning_rate: 0.002}
train: {steps: 150}
checkpoint: {dir: ckpt/HEAD}
export: {savedmodel: export/HEAD}
`

// TestInteropLayers verifies a residual network from a job file: TensorFlow serves its
// export with the same scores, and a run continues from it with another head.
func TestInteropLayers(t *testing.T) {
	tf := interop.Start(t)
	data := shared(t)
	b := newBox(t)
	b.write("first.yaml", strings.ReplaceAll(headedJob, "HEAD", "first"))
	eval := b.must(0, "run", "-np", "2", "--json", "first.yaml", "--data", data).only(t, "eval")
	if a := eval.num("accuracy"); a < 0.9 {
		t.Errorf("accuracy %v, want 0.9 or more", a)
	}
	b.write("predictions", b.must(0, "predict", "first.yaml", "--json", "--from", "ckpt/first", "--data", data).stdout)
	report := b.tensorFlow(tf, "check_bundle.py", "images", "export/first",
		"--images", filepath.Join(data, "mnist", "t10k-images-idx3-ubyte.gz"), "--labels", filepath.Join(data, "mnist", "t10k-labels-idx1-ubyte.gz"),
		"--correct", strconv.Itoa(int(eval.num("correct"))), "--predictions", "predictions")
	if report.num("records") != 10000 {
		t.Errorf("TensorFlow reports %v, want 10000 records", report)
	}
	b.write("second.yaml", strings.ReplaceAll(headedJob, "HEAD", "second"))
	second := b.must(0, "run", "-np", "2", "--json", "second.yaml", "--data", data, "--set", "train.init_from.path=export/first", "--set", "train.steps=100")
	if a := second.only(t, "eval").num("accuracy"); a < 0.9 {
		t.Errorf("accuracy %v from the first network's variables, want 0.9 or more\n%s", a, second.stderr)
	}
	for _, name := range []string{"stem/kernel", "b/kernel", "layer_norm/gamma"} {
		if !strings.Contains(second.stderr, name) {
			t.Errorf("it is not told that %s was taken:\n%s", name, second.stderr)
		}
	}
}
