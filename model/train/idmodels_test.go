package train

import (
	"slices"
	"testing"

	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring/exitcode"
)

// idModels are the presets with tables of several widths beside dense variables.
var idModels = map[string][]string{
	"fm":        {"model.kind=fm", "model.embedding=5"},
	"wide-deep": {"model.kind=wide-deep", "model.hidden=[8,4]", "model.embedding=4", "model.pooling=mean"},
	"deepfm":    {"model.kind=deepfm", "model.hidden=[8]", "model.pooling=sqrtn"},
	"dcn":       {"model.kind=dcn", "model.hidden=[8]", "model.embedding=4", "model.cross=3"},
	"squared":   {"model.kind=fm", "loss.kind=squared"},
}

// TestIDModels verifies that each model of ids trains with one curve at 1, 2 and 4 ranks, also in
// micro-batches and with penalties; that a run repeats bit for bit; and that a resumed run ends
// with the bits of a run without a stop.
func TestIDModels(t *testing.T) {
	for name, sets := range idModels {
		t.Run("model="+name, func(t *testing.T) {
			for _, more := range [][]string{nil, {"train.accumulate=3", "model.l2=0.01", "train.clip_norm=0.5"}} {
				sets := append(slices.Clone(sets), more...)
				want := mustTrain(t, 1, loadText(t, clicksText, sets...), clicksData(), nil)[0].losses()
				for _, p := range []int{2, 4} {
					members := mustTrain(t, p, loadText(t, clicksText, sets...), clicksData(), nil)
					for i, got := range members[0].losses() {
						if len(want) != 10 || traintest.Far(got, want[i], 1e-5) {
							t.Fatalf("%v on %d ranks: losses are\n%v\nwant\n%v", more, p, members[0].losses(), want)
						}
					}
				}
			}
			resumesAlike(t, sets)
		})
	}
}

// resumesAlike compares a run of ten steps with another, and with one that stops after five.
func resumesAlike(t *testing.T, sets []string) {
	t.Helper()
	whole := mustTrain(t, 3, loadText(t, clicksText, sets...), clicksData(), nil)[0]
	again := mustTrain(t, 3, loadText(t, clicksText, sets...), clicksData(), nil)[0]
	job := loadText(t, clicksText, append(slices.Clone(sets), "checkpoint.dir="+t.TempDir())...)
	mustTrain(t, 3, job, clicksData(), func(m *member) {
		if m.rank == 1 {
			m.stopAfter(5, exitcode.Terminated)
		}
	})
	resumed := mustTrain(t, 3, job, clicksData(), func(m *member) { m.opts.Resume = "must" })[0]
	if got := eventsOf[report.Start](resumed)[0].RestoredStep; got != 5 {
		t.Fatalf("resumed at step %d, want 5", got)
	}
	if again.result != whole.result || resumed.result != whole.result {
		t.Errorf("runs end with %+v, again %+v, resumed %+v, want equal ones", whole.result, again.result, resumed.result)
	}
}
