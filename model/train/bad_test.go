package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input/libsvm"
	"ringtrain/input/synth"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// badLines returns a job on 40 lines, two of which cannot be read.
func badLines(t *testing.T, sets ...string) (*job.Config, records.Set) {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	for i := range 40 {
		line := "1 1:1 3:0.5\n"
		switch {
		case i == 7 || i == 31:
			line = "1 1:x\n"
		case i%3 == 0:
			line = "0 2:1\n"
		}
		text.WriteString(line)
	}
	name := filepath.Join(dir, "a.libsvm")
	if err := os.WriteFile(name, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	cfg := loadText(t, `
name: lines
model:     {kind: sparse-linear, features: 124}
input:
  train:   {format: libsvm, files: [`+name+`]}
  eval:    {format: libsvm, files: [`+name+`]}
  batch: 8
optimizer: {name: adagrad, learning_rate: 0.1}
allreduce: {codec: none}
train:     {epochs: 2}
`, sets...)
	d, err := libsvm.Open(t.Context(), []string{name}, libsvm.Config{Features: 124, Tolerate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return cfg, records.Set{Train: d, Eval: synth.Clicks(1, 10, synth.Eval), Split: "eval"}
}

// TestBadRecords verifies that a job continues while no epoch exceeds its allowed number of bad
// records over all ranks, that the number is reported and saved, and that one more bad record ends
// the job with the fault of the first.
func TestBadRecords(t *testing.T) {
	cfg, data := badLines(t, "input.max_bad_records=2", "input.shuffle=false", "checkpoint.dir="+t.TempDir())
	members := mustTrain(t, 2, cfg, data, nil)
	var told []string
	for _, m := range members {
		for _, line := range m.notices {
			if strings.Contains(line, "bad records") {
				told = append(told, line)
			}
		}
	}
	if len(told) != 2 || !strings.HasPrefix(told[0], "ignored 2 bad records in epoch 1; the first: ") ||
		!strings.Contains(told[1], `a.libsvm:8: record 7 at byte `) {
		t.Errorf("told %q, want the number and the first bad record of both epochs", told)
	}
	if got := members[0].trainer.progress.epoch.bad; got != 2 {
		t.Errorf("%d bad records are saved, want 2", got)
	}

	cfg, data = badLines(t, "input.max_bad_records=1", "input.shuffle=false")
	for _, m := range trainOn(t, 2, cfg, data, nil) {
		if m.err == nil {
			t.Fatalf("rank %d: no error", m.rank)
		}
		if m.rank == 1 && (m.code() != exitcode.BadData || !strings.Contains(m.err.Error(), "2 bad records in epoch 1, want at most 1, as input.max_bad_records says: ") || !strings.Contains(m.err.Error(), "record 7 at byte")) {
			t.Errorf("rank %d: error %v (%d)", m.rank, m.err, m.code())
		}
	}
}

// TestBadRecordsHaveNoLoss verifies that bad records count in no loss and in no number of examples, at
// any world size, with each reduction, whole and in parts: all good records have the label 3, which a
// model that does not move predicts as 0.
func TestBadRecordsHaveNoLoss(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.libsvm")
	if err := os.WriteFile(name, []byte("3 0:x\n"+strings.Repeat("3 0:1\n3 0:2\n3 0:x\n", 10)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{1, 2, 3} {
		for _, sets := range [][]string{{"loss.reduction=mean"}, {"loss.reduction=sum"}, {"train.accumulate=2"}} {
			cfg := loadText(t, `
name: lines
model:     {kind: linear, features: 1}
loss:      {kind: squared}
input:
  shape:   [1]
  train:   {format: libsvm, files: [`+name+`]}
  eval:    {format: libsvm, files: [`+name+`]}
  batch: 8
  max_bad_records: 11
optimizer: {name: sgd, learning_rate: 1e-30}
allreduce: {codec: none}
train:     {epochs: 2}
eval:      {progressive: true}
log:       {every: 1}
`, sets...)
			d, err := libsvm.Open(t.Context(), []string{name}, libsvm.Config{Features: 1, Tolerate: true, Dense: true})
			if err != nil {
				t.Fatal(err)
			}
			m := mustTrain(t, p, cfg, records.Set{Train: d, Eval: synth.Linear(1), Split: "eval"}, nil)[0]
			d.Close()
			for _, loss := range m.losses() {
				if loss != 9 {
					t.Errorf("%d ranks, %v: the losses of the steps are %v, want 9", p, sets, m.losses())
					break
				}
			}
			if done := eventsOf[report.Done](m)[0]; done.Examples != 40 {
				t.Errorf("%d ranks, %v: %d examples of two epochs, want 40", p, sets, done.Examples)
			}
			last := eventsOf[report.Progressive](m)
			if e := m.trainer.progress.epoch; e.examples != 20 || e.bad != 11 || e.mean() != 9 || last[len(last)-1].Examples != 20 {
				t.Errorf("%d ranks, %v: %+v, progressive %+v, want 20 examples of loss 9 and 11 bad records", p, sets, e, last[len(last)-1])
			}
		}
	}
}

// TestStepOfBadRecordsHasTheLastLoss verifies that the report of a step whose records are all bad has the loss of the one before.
func TestStepOfBadRecordsHasTheLastLoss(t *testing.T) {
	cfg, data := badLines(t, "input.max_bad_records=2", "input.shuffle=false", "input.batch=1", "log.every=1")
	var repeated int
	steps := eventsOf[report.Step](mustTrain(t, 1, cfg, data, nil)[0])
	for i, e := range steps[1:] {
		if !isFinite(float64(e.Loss)) {
			t.Errorf("step %d has the loss %v", e.Step, e.Loss)
		} else if e.Loss == steps[i].Loss {
			repeated++
		}
	}
	if repeated == 0 {
		t.Error("no step has the loss of the one before")
	}
}

// TestResumedEpochTellsBadRecords verifies that a run that resumes behind the bad records of an epoch
// tells their number at the end of the epoch.
func TestResumedEpochTellsBadRecords(t *testing.T) {
	cfg, data := badLines(t, "input.max_bad_records=2", "input.shuffle=false", "train.epochs=1", "checkpoint.dir="+t.TempDir())
	mustTrain(t, 2, cfg, data, func(m *member) { m.stopAfter(4, exitcode.Terminated) })
	var told []string
	for _, m := range mustTrain(t, 2, cfg, data, func(m *member) { m.opts.Resume = "must" }) {
		told = append(told, m.notices...)
	}
	if text := strings.Join(told, "\n"); strings.Count(text, "ignored 2 bad records in epoch 1") != 1 {
		t.Errorf("told %q, want the bad records of the whole epoch once", text)
	}
}
