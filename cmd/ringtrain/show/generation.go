package show

import (
	"fmt"
	"strings"

	"ringtrain/model/train/report"
)

// generationSentence says who was lost and why, and what that costs.
func generationSentence(e report.Generation) string {
	who := "nobody was lost"
	if len(e.Lost) > 0 {
		who = "after the loss of rank " + strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Lost), " ", ", "), "[]")
	}
	line := fmt.Sprintf("generation %d of %d workers goes on, %s: %s", e.Generation, e.WorldSize, who, e.Cause)
	if e.Residuals != "" {
		line += fmt.Sprintf("; the residuals of %s begin anew", e.Residuals)
	}
	if !e.Forgotten || e.StepsRepeated == 0 {
		return line
	}
	line += "\nno living rank has the state: training "
	if e.RestoredStep == 0 {
		return line + fmt.Sprintf("begins at step 0 (%s lost); checkpoint.every bounds this", stepsAre(e.StepsRepeated))
	}
	return line + fmt.Sprintf("resumes from step %s (%s repeated)", Commas(e.RestoredStep), stepsAre(e.StepsRepeated))
}

// stepsAre returns a number of steps with its verb.
func stepsAre(n int64) string {
	if n == 1 {
		return "1 step is"
	}
	return Commas(n) + " steps are"
}
