package train

import (
	"fmt"
	"math"

	"ringtrain/input"
	"ringtrain/ring"
	"ringtrain/ring/bucket"
	"ringtrain/ring/exitcode"
)

// Agreed holds the facts that all ranks know after a step, from the exact tails of the buckets. It is
// equal on every rank.
type Agreed struct {
	Loss     float64 // sum over the global batch
	Examples int64   // of the global batch
	First    bool    // the global batch is the first of an epoch
	Bad      int64   // number of its examples whose records are bad
	BadRank  int     // lowest rank with a bad record, −1 if there is none

	// Request merges the requests of all ranks. The stop code is that of the lowest rank that asks
	// to stop.
	Request
}

const notFiniteAdvice = "try a smaller optimizer.learning_rate, or look at the records"

// agree folds the ranks' tails in rank order. A loss or gradient that is not finite is an error that
// names the first such rank and the variable. A sum that is not finite and a replica that differs are
// errors too.
func (l *Loop) agree(b *input.Batch) (Agreed, error) {
	a := Agreed{First: b.Offset == 0, BadRank: -1}
	tails := l.Reducer.Tails()
	for rank, t := range tails {
		l.loads.add(rank, len(tails), &t)
		a.Loss += t.Loss
		a.Examples += t.Examples
		a.Bad += int64(t.Bad)
		if t.Bad > 0 && a.BadRank < 0 {
			a.BadRank = rank
		}
		if a.Stop == 0 {
			a.Stop = int(t.Stop)
		}
		a.Checkpoint = a.Checkpoint || t.Checkpoint
		a.Evaluate = a.Evaluate || t.Evaluate
		a.Saved = a.Saved || t.Saved
		if what := l.nonFiniteText(t); what != "" {
			return a, &ring.Cause{
				Rank: rank, Host: l.Group.Membership().Workers[rank].Host, Step: l.Step, Operation: "backward",
				Text:     what + " not finite; " + notFiniteAdvice,
				ExitCode: exitcode.NotFinite,
			}
		}
	}
	if v := l.Reducer.NonFinite(); v != 0 {
		return a, &ring.Cause{
			Rank: -1, Step: l.Step, Operation: "all-reduce",
			Text:     fmt.Sprintf("sum of the gradients of %s is not finite; %s", l.Model.Variables()[v-1].Name, notFiniteAdvice),
			ExitCode: exitcode.NotFinite,
		}
	}
	if l.checkDue() {
		return a, l.compareTails(tails)
	}
	return a, nil
}

// nonFiniteText describes the values in a rank's tail that are not finite, "" if all are finite.
func (l *Loop) nonFiniteText(t bucket.Tail) string {
	loss := ""
	switch {
	case t.Record > 0:
		loss = fmt.Sprintf("loss of record %d", t.Record-1)
	case !isFinite(t.Loss):
		loss = "loss"
	}
	if nodes := l.Model.Graph().Nodes; loss != "" && t.Layer > 0 && int(t.Layer) <= len(nodes) {
		loss += fmt.Sprintf(" (first in layer %s)", nodes[t.Layer-1].Name)
	}
	if t.NonFinite == 0 {
		if loss != "" {
			loss += " is"
		}
		return loss
	}
	name := l.Model.Variables()[t.NonFinite-1].Name
	if loss != "" {
		return fmt.Sprintf("%s and gradient of %s are", loss, name)
	}
	return fmt.Sprintf("gradient of %s is", name)
}

// nonFiniteRecord returns the value of Tail.Record: one plus the number, over all files of the data
// set, of the first record with a loss that is not finite. It returns 0 if there is none.
func (l *Loop) nonFiniteRecord(loss float64, losses []float64, b *input.Batch) int64 {
	if isFinite(loss) {
		return 0
	}
	for i, x := range losses {
		if !isFinite(x) {
			return 1 + int64(l.Source.Record(b, i))
		}
	}
	return 0 // only the sum overflows
}

// nonFiniteLayer returns the value of Tail.Layer: one plus the number of the first layer whose output
// is not finite. It returns 0 if the loss is finite.
func (l *Loop) nonFiniteLayer(loss float64) int32 {
	if isFinite(loss) {
		return 0
	}
	return int32(1 + l.Model.FirstNonFinite())
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
