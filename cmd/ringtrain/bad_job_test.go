package main

import (
	"slices"
	"strings"
	"testing"

	"ringtrain/export/history"
)

// TestBadJob verifies, on two ranks, that a mistake in a job file or an option is
// reported with its position.
func TestBadJob(t *testing.T) {
	synthetic := []string{"mnist", "--set", "input.synthetic=true", "--set", "train.steps=10"}
	set := func(option string) []string { return append(synthetic, "--set", option) }
	tests := []struct {
		name string
		file string // job.yaml
		args []string
		code int
		want []string
	}{
		{
			"key=misspelt", "name: x\nmodel: {kind: linear}\ninput:\n  bach: 7\n  synthetic: true\n", []string{"job.yaml"},
			64, []string{`job.yaml:4:3: no key "bach" in input (did you mean "batch"?)`},
		},
		{
			"key=unknown", "model: {kind: linear}\nspeed: fast\n", []string{"job.yaml"},
			64, []string{`job.yaml:2:1: no key "speed"`},
		},
		{
			"key=wrong type", "model: {kind: linear}\ninput:\n  synthetic: true\n  batch: many\n", []string{"job.yaml"},
			64, []string{"job.yaml:4:", "input.batch is many, want a whole number"},
		},
		{"file=no YAML", "model: {kind: linear\n", []string{"job.yaml"}, 64, []string{"job.yaml:1"}},
		{"file=missing", "", []string{"nowhere.yaml"}, 66, []string{"nowhere.yaml"}},
		{"job=unknown", "", []string{"mnits"}, 66, []string{"mnits", "mnist"}},
		{"set=misspelt", "", set("trian.steps=3"), 64, []string{`no key "trian"`, `did you mean "train"?`}},
		{"set=out of range", "", set("input.batch=0"), 64, []string{"input.batch is 0, want 1 "}},
		{"set=no value", "", set("input.batch"), 64, []string{"--set", "input.batch"}},
		{"optimizer=unknown", "", set("optimizer.name=adamx"), 64, []string{"optimizer.name is ", "adamx", "rmsprop"}},
		{"option=unknown", "", append(synthetic, "--sets", "a=b"), 64, []string{"unknown option --sets", "did you mean --set?"}},
		{"resume=unknown", "", append(synthetic, "--resume", "perhaps"), 64, []string{"--resume is ", "perhaps", "want auto, never or must"}},
		{"resume=must", "", append(synthetic, "--resume", "must"), 66, []string{"no checkpoint", "ckpt/mnist"}},
		{"later=model ffm", "", set("model.kind=ffm"), 64, []string{"model.kind", "ffm", "want one of", "deepfm"}},
		{"later=format avro", "", []string{"ctr", "--set", "input.train.format=avro"}, 64, []string{"input.train.format", "avro", "want one of idx"}},
		{"output=summary", "", set("summary.dir=/dev/null/x"), 73, []string{"summary.dir: cannot write into /dev/null/x"}},
		{"model=other features", "", set("model.features=3"), 64, []string{"model.features is 3, want 784"}},
		{"data=missing", "", []string{"mnist"}, 66, []string{
			"mnist/train-images-idx3-ubyte.gz", "ringtrain data fetch mnist", "--set input.synthetic=true",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			if tt.file != "" {
				b.write("job.yaml", tt.file)
			}
			ends, e := b.trainRanks(2, tt.args...)
			b.wantFault(ends, e, tt.code, tt.want...)
			if after := b.files(); len(after) > 1 || len(after) == 1 && tt.file == "" {
				t.Errorf("files are left by a job that could not begin: %v", after)
			}
		})
	}
}

// TestAllFaultsAtOnce verifies that all errors of a job file are reported at once.
func TestAllFaultsAtOnce(t *testing.T) {
	b := newBox(t)
	b.write("job.yaml", "model: {kind: linear, fetures: 1}\ninput: {synthetic: true, batch: x}\ntrain: {stepps: 3}\n")
	e := b.must(64, "train", "job.yaml")
	for _, want := range []string{"job.yaml:1:", `"fetures"`, "job.yaml:2:", "input.batch", "job.yaml:3:", `"stepps"`} {
		if !strings.Contains(e.stderr, want) {
			t.Errorf("standard error lacks %s:\n%s", want, e.stderr)
		}
	}
}

// TestBadOutput verifies that all ranks end before training if the path of checkpoints
// or exports is below a regular file.
func TestBadOutput(t *testing.T) {
	for _, key := range []string{"checkpoint.dir", "export.savedmodel"} {
		t.Run("key="+key, func(t *testing.T) {
			b := newBox(t).with("RINGTRAIN_JSON=1")
			b.write("file", "")
			ends, e := b.trainRanks(2, "mnist", "--set", "input.synthetic=true", "--set", "train.steps=10", "--set", key+"=file/below")
			b.wantFault(ends, e, 73, key, "file/below")
			for _, v := range e.events(t) {
				if name := v.name(); name == "step" || name == "start" {
					t.Errorf("event %s before the fault was found", name)
				}
			}
			if files := b.files(); len(files) != 1 {
				t.Errorf("files are left: %v", files)
			}
		})
	}
}

// TestNotFinite verifies that a diverging run ends, and neither trains on NaN nor saves
// nor exports it.
func TestNotFinite(t *testing.T) {
	b := newBox(t).with("RINGTRAIN_JSON=1")
	ends, e := b.trainRanks(2, "linear", "--set", "optimizer.learning_rate=1e30")
	for rank, end := range ends {
		if end.code != 80 || !strings.Contains(end.last, "not finite") || !strings.Contains(end.last, "at step ") {
			t.Errorf("rank %d ended with %d and %q, want 80 and the step at which what is not finite", rank, end.code, end.last)
		}
	}
	if v := e.only(t, "error"); v.num("exit_code") != 80 {
		t.Errorf("error event: %v, want exit_code 80", v)
	}
	if files := b.files(); !slices.Equal(files, []string{"ckpt/linear/" + history.File}) {
		t.Errorf("beside the history, weights that are not finite were saved: %v", files)
	}
}

// TestOtherOptionsOnResume verifies that a run does not resume with other options than
// those of its checkpoint.
func TestOtherOptionsOnResume(t *testing.T) {
	b := newBox(t)
	job := []string{"mnist", "--set", "input.synthetic=true", "--set", "train.steps=5"}
	b.must(0, append([]string{"train"}, job...)...)
	ends, e := b.trainRanks(2, append(job, "--set", "optimizer.learning_rate=0.5")...)
	b.wantFault(ends, e, 64, "optimizer.learning_rate", "0.5", "0.01")
	b.must(0, append([]string{"train", "--resume", "never"}, append(job, "--set", "optimizer.learning_rate=0.5", "--set", "export.if=always")...)...)
}
