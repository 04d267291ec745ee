package train

import (
	"testing"

	"ringtrain/input"
	"ringtrain/model/train/records"
)

// onDisk is a data set that waits for a disk.
type onDisk struct{ input.Dataset }

func (d onDisk) Facts() input.Facts {
	f := d.Dataset.Facts()
	f.InMemory = false
	return f
}

// TestReadAhead verifies that batches are read ahead unless the records lie in memory and the rank has one core.
func TestReadAhead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		data  input.Dataset
		cores int
		want  int
	}{
		{"in memory, one core", linearData().Train, 1, 0},
		{"in memory, two cores", linearData().Train, 2, 5},
		{"on a disk, one core", onDisk{linearData().Train}, 1, 5},
	} {
		job := loadText(t, linearText, "input.prefetch=5")
		r := &run{Trainer: &Trainer{job: job, data: records.Set{Train: tt.data}}, team: Team{Cores: tt.cores}}
		if got := r.readAhead(); got != tt.want {
			t.Errorf("%s: %d batches are read ahead, want %d", tt.name, got, tt.want)
		}
	}
}
