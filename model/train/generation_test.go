package train

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/model/train/report"
	"ringtrain/ring"
)

// TestGenerationEvent verifies that rank 0 reports a generation that follows another one: with which
// step it begins, and how many known steps are repeated because no living rank has their state.
func TestGenerationEvent(t *testing.T) {
	cause := &ring.Cause{Rank: 1, Step: 7, Text: "lost"}
	event := func(lost ...int) report.Generation {
		return report.Generation{Generation: 1, WorldSize: 3, Lost: append([]int{}, lost...), Cause: cause.Error(), RestoredStep: 7}
	}
	tests := []struct {
		name   string
		killed []int
		sets   []string
		change func(e *report.Generation)
	}{
		{"nobody", nil, nil, func(*report.Generation) {}},
		{"one", []int{1}, nil, func(*report.Generation) {}},
		{"all", []int{0, 1, 2}, nil, func(e *report.Generation) { e.RestoredStep, e.StepsRepeated, e.Forgotten = 0, 7, true }},
		{"all with a checkpoint", []int{0, 1, 2}, []string{"checkpoint.every=3", "checkpoint.dir=" + t.TempDir()},
			func(e *report.Generation) { e.RestoredStep, e.StepsRepeated, e.Forgotten = 6, 1, true }},
		{"one with a lossy codec", []int{1}, []string{"allreduce.codec=int8", "allreduce.levels=flat"},
			func(e *report.Generation) { e.Residuals = "int8" }},
	}
	for _, tt := range tests {
		t.Run("killed="+tt.name, func(t *testing.T) {
			c := newProcesses(t, 3, loadText(t, digitsText, tt.sets...), digitsData(), nil)
			closeAfter(c.members[1], 7)
			c.runInMemory(nil)
			c.kill(tt.killed...)
			for _, m := range c.members {
				m.team.Lost, m.team.Cause = tt.killed, cause
			}
			want := event(tt.killed...)
			tt.change(&want)
			for _, m := range c.mustEnd() {
				got := eventsOf[report.Generation](m)
				if m.rank != 0 && len(got) > 0 || m.rank == 0 && !slices.EqualFunc(got, []report.Generation{want}, func(a, b report.Generation) bool { return cmp.Equal(a, b) }) {
					t.Errorf("rank %d reports %+v, want of rank 0 %+v", m.rank, got, want)
				}
			}
		})
	}
}
