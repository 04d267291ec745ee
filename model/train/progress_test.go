package train

import (
	"math"
	"testing"

	"ringtrain/input"
	"ringtrain/model/job"
)

// TestEnd verifies the last step of a run for each form of its length.
func TestEnd(t *testing.T) {
	at := func(step, epoch, offset int64) progress {
		return progress{restored: true, step: step, position: input.Position{Epoch: epoch, Offset: offset}}
	}
	tests := []struct {
		name           string
		train          job.Train
		from           progress
		records, batch int
		want           int64
	}{
		{"by steps", job.Train{Steps: 7, Epochs: 3}, progress{}, 10, 2, 7},
		{"by steps, resumed", job.Train{Steps: 7, Epochs: 3}, at(5, 1, 0), 10, 2, 7},
		{"by epochs", job.Train{Epochs: 3}, progress{}, 10, 2, 15},
		{"short last batch", job.Train{Epochs: 3}, progress{}, 10, 4, 9},
		{"batch beyond the records", job.Train{Epochs: 3}, progress{}, 10, 40, 3},
		{"resumed", job.Train{Epochs: 3}, at(4, 1, 4), 10, 4, 9},
		{"resumed at the end of an epoch", job.Train{Epochs: 3}, at(3, 0, 10), 10, 4, 9},
		{"resumed with half the batch", job.Train{Epochs: 3}, at(4, 1, 4), 10, 2, 4 + 3 + 5},
		{"resumed at the end", job.Train{Epochs: 3}, at(9, 3, 0), 10, 4, 9},
		{"longer", job.Train{Epochs: 4}, at(9, 3, 0), 10, 4, 12},
		{"shorter", job.Train{Epochs: 1}, at(9, 3, 0), 10, 4, 9},
		{"longest", job.Train{Epochs: 1 << 30}, progress{}, 1 << 31, 1, (1 << 30) << 31},
	}
	for _, tt := range tests {
		if got := tt.from.end(tt.train, tt.records, tt.batch); got != tt.want {
			t.Errorf("%s: ends after step %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestProgressCodec verifies that the other ranks decode the progress that rank 0 sends, and refuse
// an unknown codec.
func TestProgressCodec(t *testing.T) {
	for _, o := range []progress{
		{}, {true, 1, 2, input.Position{Epoch: 3, Offset: 4}, 1, epochSum{0.1, 5, 3, 9}, bestEvaluation{}, 1<<63 + 9, 3, true},
		{false, 1 << 62, -1, input.Position{Offset: 1 << 40}, 4, epochSum{math.Inf(1), 1 << 60, 1 << 40, 1 << 30}, bestEvaluation{7, -0.25, 9, 3}, 1<<63 + 9, 1 << 61, false},
	} {
		b := o.encode()
		if got := decodeProgress(b); got != o || len(b) != progressBytes {
			t.Errorf("%d bytes of %+v decode to %+v", len(b), o, got)
		}
	}
}
