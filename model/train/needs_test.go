package train

import (
	"strings"
	"testing"

	"ringtrain/model"
	"ringtrain/ring/exitcode"
)

// TestWantMemory verifies that a model that does not fit is refused with the sum of all that
// its variables take, and that one that just fits is not.
func TestWantMemory(t *testing.T) {
	job := DefaultJob()
	job.Model = model.Config{Kind: "linear"}
	job.Optimizer.Name = "adam"
	g, err := job.Model.Graph([]int{1<<28 - 1}, job.Loss)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Trainer{job: &job, model: model.New(g)}
	const need = 4 * (1 << 28) * 4 * 2 // values, gradients, two slots; two ranks
	if err := tr.wantMemory(2, need); err != nil {
		t.Errorf("what fits is refused: %v", err)
	}
	err = tr.wantMemory(2, need-1)
	if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "268435456 parameters and needs 8.0 GiB") {
		t.Errorf("error %v, want 64 with the sum", err)
	}
}
