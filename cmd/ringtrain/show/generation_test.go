package show

import (
	"testing"

	"ringtrain/model/train/report"
)

// TestGenerationSentence verifies that the sentence of a generation says who was lost and why, and
// what is repeated if no living rank has the state.
func TestGenerationSentence(t *testing.T) {
	e := report.Generation{Generation: 2, WorldSize: 4, Cause: "link 1 -> 2: connection reset", RestoredStep: 4000}
	nobody := "generation 2 of 4 workers goes on, nobody was lost: link 1 -> 2: connection reset"
	for _, tt := range []struct {
		change func(e *report.Generation)
		want   string
	}{
		{func(*report.Generation) {}, nobody},
		{func(e *report.Generation) { e.StepsRepeated = 1 }, nobody},
		{func(e *report.Generation) { e.Residuals = "int8" }, nobody + "; the residuals of int8 begin anew"},
		{func(e *report.Generation) { e.Lost = []int{1, 3} },
			"generation 2 of 4 workers goes on, after the loss of rank 1, 3: link 1 -> 2: connection reset"},
		{func(e *report.Generation) { e.Forgotten = true }, nobody},
		{func(e *report.Generation) { e.Forgotten, e.StepsRepeated = true, 269 },
			nobody + "\nno living rank has the state: training resumes from step 4,000 (269 steps are repeated)"},
		{func(e *report.Generation) { e.Forgotten, e.RestoredStep, e.StepsRepeated = true, 0, 4269 },
			nobody + "\nno living rank has the state: training begins at step 0 (4,269 steps are lost); checkpoint.every bounds this"},
	} {
		changed := e
		tt.change(&changed)
		if got := Sentence(changed); got != tt.want {
			t.Errorf("%+v:\n%s\nwant\n%s", changed, got, tt.want)
		}
	}
}
