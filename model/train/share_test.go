package train

import (
	"fmt"
	"math"
	"testing"

	"ringtrain/input"
	"ringtrain/model/train/records"
	"ringtrain/model/train/traintest"
	"ringtrain/ring/exitcode"
)

const dropText = `
name: digits
model:
  layers:
    - flatten
    - {dense: {units: 16, activation: relu}}
    - {dropout: {rate: 0.4}}
    - layer_norm
    - {dense: {units: 10}}
input:     {synthetic: true, batch: 50}
loss:      {kind: softmax}
optimizer: {name: adam}
allreduce: {codec: none}
train:     {steps: 14}
log:       {every: 1}
`

// TestAccumulate verifies that shares in parts give the curve of whole shares within rounding, at
// 1, 2 and 4 ranks: with dropout (its bits belong to examples), with rows, with class weights, with
// more parts than examples, and with empty shares.
func TestAccumulate(t *testing.T) {
	for _, tt := range []struct {
		text string
		data records.Set
		sets []string
	}{
		{dropText, digitsData(), nil},
		{dropText, digitsData(), []string{"input.batch=3"}},
		{digitsText, digitsData(), []string{"train.class_weights=1,2,3,1,2,3,1,2,3,1", "loss.reduction=sum", "optimizer.learning_rate=0.001"}},
		{clicksText, clicksData(), []string{"input.batch=700"}},
		{linearText, linearData(), []string{"input.batch=30", "model.l2=0.1"}},
	} {
		want := mustTrain(t, 1, loadText(t, tt.text, tt.sets...), tt.data, nil)[0].losses()
		for _, k := range []int{2, 3, 1000} {
			for _, p := range []int{1, 2, 4} {
				got := mustTrain(t, p, loadText(t, tt.text, append(tt.sets, fmt.Sprint("train.accumulate=", k))...), tt.data, nil)[0].losses()
				for i := range want {
					if len(got) != len(want) || traintest.Far(got[i], want[i], 1e-4) {
						t.Fatalf("%s %v, %d parts on %d ranks: losses are\n%v\nwant\n%v", tt.data.Split, tt.sets, k, p, got, want)
					}
				}
			}
		}
	}
}

// TestAccumulateResumes verifies that a run of 5 and 5 steps in parts has the bits of a run of 10.
func TestAccumulateResumes(t *testing.T) {
	sets := []string{"train.accumulate=3", "train.steps=10"}
	job := loadText(t, dropText, append(sets, "checkpoint.dir="+t.TempDir())...)
	mustTrain(t, 2, job, digitsData(), func(m *member) { m.stopAfter(5, exitcode.Terminated) })
	resumed := mustTrain(t, 2, job, digitsData(), nil)[0]
	if whole := mustTrain(t, 2, loadText(t, dropText, sets...), digitsData(), nil)[0]; resumed.result != whole.result {
		t.Errorf("5 + 5 steps end with %+v, 10 with %+v", resumed.result, whole.result)
	}
}

// spoilt is a data set with one record that has NaN as its label.
type spoilt struct {
	input.Dataset
	record int
}

func (s spoilt) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, s.append)
}

func (s spoilt) append(b *input.Batch, i int) error {
	err := s.Dataset.Append(b, i)
	if i == s.record {
		b.Y[len(b.Y)-1] = float32(math.NaN())
	}
	return err
}

// TestAccumulateNamesRecord verifies that the error names the record with a loss that is not
// finite, in any part.
func TestAccumulateNamesRecord(t *testing.T) {
	for _, record := range []int{0, 9, 17, 28} {
		d := records.Set{Train: spoilt{linearData().Train, record}, Eval: linearData().Eval, Split: "eval"}
		job := loadText(t, linearText, "input.batch=30", "train.accumulate=4", "input.shuffle=false")
		m := trainOn(t, 1, job, d, nil)[0]
		if want := fmt.Sprintf("loss of record %d", record); m.code() != exitcode.NotFinite || !containsAll(m.cause().Text, want) {
			t.Errorf("record %d: %v (%d), want %q (%d)", record, m.err, m.code(), want, exitcode.NotFinite)
		}
	}
}

// TestLabelSmoothing verifies that smoothed labels give another loss, with one curve at
// any world size.
func TestLabelSmoothing(t *testing.T) {
	sameCurve(t, digitsText, digitsData(), "loss.label_smoothing=0.1")
	sameCurve(t, clicksText, clicksData(), "loss.label_smoothing=0.1")
}
