package train

import (
	"reflect"
	"testing"

	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
)

// TestEventFields verifies the fields of a run's events against the run.
func TestEventFields(t *testing.T) {
	job := loadText(t, digitsText, "train.steps=0", "train.epochs=2", "log.every=4", "input.batch=250", "eval.every=5", "allreduce.algorithm=doubling") // 250, 250, 100
	m := mustTrain(t, 3, job, digitsData(), func(m *member) { m.team.Rendezvous, m.team.Cores = "here:1", 5 })[0]
	start := eventsOf[report.Start](m)[0]
	if want := (report.Start{
		Job: "digits", JobID: "test", Version: "test", WorldSize: 3, Hosts: 1, Generation: 1, Rendezvous: "here:1",
		Codec: "none", Link: "memory", Levels: "flat", Algorithm: "doubling", Seed: 1, GlobalBatch: 250, Variables: 2, Parameters: 7850,
		Cores: 5, Kernels: highestSet(), Model: "softmax", Records: 600, EvalRecords: 300, Epochs: 2, Steps: 6,
		Options: map[string]string{
			"name": "digits", "model.kind": "softmax", "model.classes": "10", "input.synthetic": "true", "input.batch": "250", "optimizer.learning_rate": "0.1",
			"allreduce.codec": "none", "allreduce.algorithm": "doubling", "train.epochs": "2", "eval.every": "5", "log.every": "4",
		},
	}); !reflect.DeepEqual(start, want) {
		t.Errorf("start is %+v, want %+v", start, want)
	}
	steps := eventsOf[report.Step](m)
	every := loadText(t, digitsText, "train.steps=0", "train.epochs=2", "input.batch=250")
	losses := mustTrain(t, 3, every, digitsData(), nil)[0].losses()
	if len(steps) != 2 || steps[0].Step != 4 || steps[0].Epoch != 2 || steps[1].Step != 6 || steps[1].Epoch != 2 || steps[0].Steps != 6 {
		t.Fatalf("steps are %+v, want 4 and 6, both of epoch 2", steps)
	}
	// The mean per example since the event before: 250, 250, 100 and 250 of them.
	if want := (250*losses[0] + 250*losses[1] + 100*losses[2] + 250*losses[3]) / 850; traintest.Far(float64(steps[0].Loss), want, 1e-12) {
		t.Errorf("loss of the first event is %g, want %g", steps[0].Loss, want)
	}
	done := eventsOf[report.Done](m)[0]
	if want := (250*losses[3] + 250*losses[4] + 100*losses[5]) / 600; traintest.Far(float64(done.Loss), want, 1e-12) {
		t.Errorf("loss of the end is %g, want %g, the mean of the last epoch", done.Loss, want)
	}
	evals := eventsOf[report.Metrics](m)
	if len(evals) != 2 || evals[0].Step != 5 || evals[1].Step != 6 || evals[1].Epoch != 2 {
		t.Errorf("evaluations are %s, want after steps 5 and 6", traintest.JSON(t, evals))
	}
	if done.Steps != 6 || done.Epochs != 2 || done.Examples != 1200 || done.Digest != m.result.Digest || len(done.Digest) != 64 ||
		traintest.JSON(t, done.Eval) != traintest.JSON(t, evals[1]) || done.SentBytes < 6*4*7850 || done.SentBetweenHostsBytes != 0 {
		t.Errorf("done is %s", traintest.JSON(t, done))
	}
}

// TestSumPrintsMean verifies that the printed loss does not depend on loss.reduction.
func TestSumPrintsMean(t *testing.T) {
	mean := mustTrain(t, 1, loadText(t, linearText, "train.steps=1"), linearData(), nil)[0].losses()
	sum := mustTrain(t, 2, loadText(t, linearText, "train.steps=1", "loss.reduction=sum"), linearData(), nil)[0].losses()
	if traintest.Far(mean[0], sum[0], 1e-12) {
		t.Errorf("loss is %g, with reduction sum %g", mean[0], sum[0])
	}
}
