package train

import (
	"fmt"
	"math"

	"ringtrain/ring"
	"ringtrain/ring/bucket"
	"ringtrain/ring/exitcode"
)

// Agreed is what all ranks know after a step, from the exact tails of the
// buckets: it is the same on every rank.
type Agreed struct {
	Loss       float64 // sum over the global batch
	Examples   int64   // of the global batch
	Stop       int     // exit code that some rank asked to stop with, 0 for none
	Checkpoint bool
	Evaluate   bool

	Epoch, Offset int64 // place of the global batch
}

// agree folds the ranks' tails in rank order. A loss or gradient that is not
// finite is an error that names the first rank that has one.
func agree(tails []bucket.Tail, l *Loop) (Agreed, error) {
	var a Agreed
	for r := range tails {
		t := &tails[r]
		a.Loss += t.Loss
		a.Examples += t.Examples
		if a.Stop == 0 {
			a.Stop = int(t.Stop)
		}
		a.Checkpoint = a.Checkpoint || t.Checkpoint
		a.Evaluate = a.Evaluate || t.Evaluate
		what := ""
		if t.NonFinite > 0 {
			what = "gradient of " + l.Model.Variables()[t.NonFinite-1].Name
		}
		if math.IsNaN(t.Loss) || math.IsInf(t.Loss, 0) {
			what = "loss"
		}
		if what != "" {
			return a, &ring.Cause{
				Rank: r, Host: l.Group.Membership().Workers[r].Host, Step: l.Step, Operation: "backward",
				Text:     fmt.Sprintf("%s is not finite; try a smaller optimizer.learning_rate or look at the records", what),
				ExitCode: exitcode.NotFinite,
			}
		}
	}
	return a, nil
}
