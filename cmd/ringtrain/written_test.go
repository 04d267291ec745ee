package main

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestWrittenOtherwise verifies that a column by a hash whose whole numbers are floats in other records than those of
// training is told of: in training, eval and predict, by a checkpoint and by a bundle without the job, and by data check;
// and that the records of training are not told of, nor those of a model that has learnt floats.
func TestWrittenOtherwise(t *testing.T) {
	b := newBox(t)
	write := func(name, form string) {
		var lines strings.Builder
		lines.WriteString("code,y\n")
		for i := range 60 {
			fmt.Fprintf(&lines, form+",%d\n", i%5, i%2)
		}
		b.write(name, lines.String())
	}
	write("whole.csv", "%d")
	write("float.csv", "%d.0")
	b.write("job.yaml", `
model: {kind: linear, classes: auto}
input:
  train: {format: csv, files: [whole.csv], header: true}
  eval: {files: [float.csv]}
  batch: 8
  columns: [{label: {names: [y]}}, {categorical: {names: [code], hash: 32}}]
optimizer: {name: sgd, learning_rate: 0.1}
train: {epochs: 2}
checkpoint: {dir: ckpt}
export: {savedmodel: export, if: always}
`)
	const told = "code has texts like 1.0, and training had texts like 1: "
	for _, tt := range []struct {
		args string
		want string // "": nothing is told
	}{
		{"run job.yaml", "input.eval: " + told},
		{"data check job.yaml", "input.eval has texts like 1.0"},
		{"eval job.yaml", "input.eval: " + told},
		{"predict job.yaml float.csv", "float.csv: " + told},
		{"eval export float.csv", "float.csv: " + told},
		{"eval --from export float.csv", "float.csv: " + told},
		{"predict --from export float.csv", "float.csv: " + told},
		{"predict --from export whole.csv", ""},
		{"predict job.yaml whole.csv", ""},
		{"run job.yaml --set checkpoint.dir=floats --set input.train.files=float.csv --set export.savedmodel=other", ""},
		{"predict job.yaml whole.csv --from other", "whole.csv: code has texts like 1, and training had texts like 1.0: "},
	} {
		e := b.must(exitcode.OK, strings.Fields(tt.args)...)
		if said := e.stdout + e.stderr; strings.Contains(said, "has texts like") != (tt.want != "") || strings.Count(said, tt.want) != 1 && tt.want != "" {
			t.Errorf("%s: %s\nwant once %q", tt.args, said, tt.want)
		}
	}
}
