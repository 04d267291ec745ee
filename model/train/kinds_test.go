package train

import (
	"slices"
	"strings"
	"testing"

	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring/exitcode"
)

// TestKindsOfTable verifies that each kind of a table's model trains if model.kind alone is set, with one curve at 1 and 2
// ranks and after a resume; that what the kind does not use is told and no error; and that sparse-linear is linear.
func TestKindsOfTable(t *testing.T) {
	folder, digests := writeColumns(t), map[string]string{}
	for kind, unused := range map[string]string{
		"linear": "model.hidden is not used by model.kind linear; model.embedding is not used by model.kind linear", "mlp": "model.embedding is not used by model.kind mlp",
		"sparse-linear": "model.hidden is not used by model.kind sparse-linear; model.embedding is not used by model.kind sparse-linear",
		"fm":            "model.hidden is not used by model.kind fm", "wide-deep": "", "deepfm": "", "dcn": "",
	} {
		t.Run("kind="+kind, func(t *testing.T) {
			cfg := loadText(t, columnsText, "model.kind="+kind, "log.every=1", "checkpoint.dir="+t.TempDir())
			one := mustTrain(t, 1, loadText(t, columnsText, "model.kind="+kind, "log.every=1"), openColumns(t, cfg, folder), nil)[0]
			mustTrain(t, 2, cfg, openColumns(t, cfg, folder), func(m *member) {
				if m.rank == 1 {
					m.stopAfter(5, exitcode.Terminated)
				}
			})
			resumed := mustTrain(t, 2, cfg, openColumns(t, cfg, folder), func(m *member) { m.opts.Resume = "must" })[0]
			want, got := one.losses(), resumed.losses()
			want = want[len(want)-len(got):]
			for i := range got {
				if traintest.Far(got[i], want[i], 1e-5) {
					t.Errorf("losses are %v behind a resume, want %v", got, want)
					break
				}
			}
			told := slices.DeleteFunc(one.notices, func(line string) bool { return !strings.Contains(line, "is not used by") })
			if got := strings.Join(told, "; "); got != unused {
				t.Errorf("told %q, want %q", got, unused)
			}
			if len(eventsOf[report.Metrics](resumed)) == 0 {
				t.Error("nothing was evaluated")
			}
			digests[kind] = one.result.Digest
		})
	}
	if digests["linear"] != digests["sparse-linear"] {
		t.Errorf("linear ends with %s, sparse-linear with %s, want equal bits", digests["linear"], digests["sparse-linear"])
	}
}

// TestKindOfNumbers verifies that sparse-linear of a table of numbers is linear with the loss
// sigmoid.
func TestKindOfNumbers(t *testing.T) {
	folder := writeColumns(t)
	text := strings.Split(columnsText, "    - categorical")[0] + "  batch: 10\noptimizer: {name: adagrad, learning_rate: 0.1}\ntrain: {epochs: 1}\n"
	train := func(sets ...string) string {
		cfg := loadText(t, text, sets...)
		return mustTrain(t, 1, cfg, openColumns(t, cfg, folder), nil)[0].result.Digest
	}
	if linear, sparse := train("model.kind=linear", "loss.kind=sigmoid"), train("model.kind=sparse-linear"); linear != sparse {
		t.Errorf("linear ends with %s, sparse-linear with %s, want equal bits", linear, sparse)
	}
}
