package train

import (
	"strings"
	"testing"

	"ringtrain/model"
	"ringtrain/model/optimizer"
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

// TestSlotsOf verifies that slotsOf counts the slots that each optimizer makes.
func TestSlotsOf(t *testing.T) {
	for name, want := range slotsOf {
		rate := 0.1
		c := optimizer.Config{Name: name, LearningRate: &rate, Centered: name == "rmsprop"}
		o, err := optimizer.New(c, []*model.Variable{{Name: "w", Shape: []int{3}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, s := range o.Slots() {
			if len(s.Shape) > 0 { // powers are scalars
				got++
			}
		}
		if got != want {
			t.Errorf("%s makes %d slots of a variable, slotsOf says %d", name, got, want)
		}
	}
}
