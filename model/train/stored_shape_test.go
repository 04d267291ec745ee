package train

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/model/train/records"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestStoredShape verifies that a shape in a checkpoint causes no allocation: a table of
// 2²⁸ rows without columns takes no byte in the checkpoint, but would take a GiB as a model.
func TestStoredShape(t *testing.T) {
	job := loadText(t, clicksText)
	live, err := clicksData().NewModel(job)
	if err != nil {
		t.Fatal(err)
	}
	name := live.Variables()[0].Name
	prefix := filepath.Join(t.TempDir(), "model.ckpt")
	table := bundle.Tensor{Name: name, DType: bundle.DTFloat32, Shape: []int64{1 << 28, 0}}
	if _, err := bundle.Write(bundle.OS, prefix, []bundle.Tensor{table}); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := trained.Open(t.Context(), job, nil, prefix, records.Evaluated{Labelled: true})
	runtime.ReadMemStats(&after)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), name) || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v (%d), want one that names %s", err, exitcode.Of(err), name)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("%d MiB were allocated", got>>20)
	}
}
