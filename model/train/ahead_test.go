package train

import (
	"testing"

	"ringtrain/input"
)

// TestReadAhead verifies that batches are read ahead unless the records lie in memory and the rank has one core.
func TestReadAhead(t *testing.T) {
	memory := input.Facts{InMemory: true}
	for _, tt := range []struct {
		name  string
		data  input.Facts
		cores int
		want  int
	}{
		{"in memory, one core", memory, 1, 0},
		{"in memory, two cores", memory, 2, 5},
		{"on a disk, one core", input.Facts{}, 1, 5},
	} {
		job := loadText(t, linearText, "input.prefetch=5")
		if got := readAhead(job, tt.data, tt.cores); got != tt.want {
			t.Errorf("%s: %d batches are read ahead, want %d", tt.name, got, tt.want)
		}
	}
}
