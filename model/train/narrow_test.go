package train

import (
	"testing"

	"ringtrain/model/train/records"
)

// TestShapeOfNarrowRecords verifies that input.shape gives the width of LibSVM records that do not
// fill it.
func TestShapeOfNarrowRecords(t *testing.T) {
	job := loadText(t, "model: {kind: softmax, classes: 2}\noptimizer: {learning_rate: 0.1}\ninput: {shape: [4, 4, 1], train: {format: libsvm, files: [x]}}\n",
		"input.train.files="+writeNarrow(t, 3))
	data, err := records.NewOpener(job, records.Options{Roots: []string{"."}}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if _, err := data.NewModel(job); err != nil || data.Train.Facts().Features != 16 {
		t.Errorf("%d features, error %v, want 16", data.Train.Facts().Features, err)
	}
}
