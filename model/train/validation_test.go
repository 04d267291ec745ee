package train

import (
	"slices"
	"testing"

	"ringtrain/input"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
)

// TestValidationIsValidation verifies that metrics are those of the validation records, and that
// these records take no part in training: with flipped labels AUC becomes 1 − AUC, and the losses
// of training stay.
func TestValidationIsValidation(t *testing.T) {
	cfg, data := loadText(t, clicksText, "eval.every=5"), clicksData()
	plain := mustTrain(t, 2, cfg, data, nil)[0]
	data.Eval = flipped{data.Eval}
	other := mustTrain(t, 2, cfg, data, nil)[0]
	if !slices.Equal(plain.losses(), other.losses()) || plain.result != other.result {
		t.Errorf("training depends on the validation records: %v, then %v", plain.losses(), other.losses())
	}
	before, after := eventsOf[report.Metrics](plain), eventsOf[report.Metrics](other)
	if len(before) != 2 || len(after) != 2 {
		t.Fatalf("%d and %d evaluations, want 2 each", len(before), len(after))
	}
	for i := range before {
		if a, b := float64(*before[i].AUC), float64(*after[i].AUC); a < 0.6 || traintest.Far(b, 1-a, 1e-12) {
			t.Errorf("evaluation %d: AUC %g, with flipped labels %g, want 1 − AUC", i, a, b)
		}
		if before[i].Split != "eval" || before[i].Examples != int64(data.Eval.Facts().Records) {
			t.Errorf("evaluation %d is %s, want all of eval", i, traintest.JSON(t, before[i]))
		}
	}
}

// flipped is a data set whose labels 0 and 1 are exchanged.
type flipped struct{ input.Dataset }

func (f flipped) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, f.append)
}

func (f flipped) append(b *input.Batch, i int) error {
	err := f.Dataset.Append(b, i)
	if err == nil {
		b.Y[len(b.Y)-1] = 1 - b.Y[len(b.Y)-1]
	}
	return err
}
