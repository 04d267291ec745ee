package train

import (
	"cmp"
	"fmt"
	"math"

	"ringtrain/export/checkpoint"
	"ringtrain/input"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// epochSum adds up an epoch over all ranks. It is part of the state, as the position is: so the mean
// loss has the bits of a run without an interruption.
type epochSum struct {
	loss     float64
	examples int64
	bad      int64 // number of bad records
	before   int64 // number of examples of the epochs before
}

// add counts one step.
func (s *epochSum) add(a Agreed) {
	if a.First {
		*s = epochSum{before: s.before + s.examples}
	}
	s.loss += a.Loss
	s.examples += a.Examples
	s.bad += a.Bad
}

// mean returns the loss per example, NaN without examples.
func (s epochSum) mean() report.Number {
	if s.examples == 0 {
		return report.Number(math.NaN())
	}
	return report.Number(s.loss / float64(s.examples))
}

// stored returns the sum in the form of a checkpoint.
func (s epochSum) stored() *checkpoint.EpochSum {
	return &checkpoint.EpochSum{Loss: checkpoint.Sum(s.loss), Examples: s.examples, Bad: s.bad, Before: s.before}
}

// restoredEpoch is the inverse of stored, at a position in so many records. An old checkpoint has no sum;
// the mean then covers the steps after the resume. One that is not as old lacks Before.
func restoredEpoch(s *checkpoint.EpochSum, at input.Position, records int) epochSum {
	if s == nil {
		return epochSum{before: at.Consumed(records)}
	}
	return epochSum{float64(s.Loss), s.Examples, s.Bad, cmp.Or(s.Before, (at.LastEpoch()-1)*int64(records))}
}

// recordBad keeps the fault of this rank's first bad record of the epoch.
func (l *Loop) recordBad(b *input.Batch) {
	if b.Offset == 0 {
		l.firstBad = nil
	}
	if l.firstBad == nil {
		l.firstBad = b.Fault
	}
}

// checkBadRecords ends the job if the ranks have read more bad records in this epoch than
// input.max_bad_records allows. The rank that read the first bad record returns its fault; the other
// ranks learn of the fault as of any record that one rank cannot read. At the end of an epoch the rank
// gives notice of the number.
func (r *run) checkBadRecords() error {
	a, n, most := r.agreed, r.progress.epoch.bad, r.job.Input.MaxBad
	if a.First || r.badRank < 0 {
		r.badRank = a.BadRank
	}
	if n == 0 || max(r.badRank, 0) != r.rank { // rank 0 speaks of those read before the job resumed
		return nil
	}
	first := r.loop.firstBad
	if first == nil {
		first = exitcode.With(exitcode.BadData, fmt.Errorf("the first of them was read before the job resumed"))
	}
	if n > most {
		return fmt.Errorf("%d bad records in epoch %d, want at most %d, as input.max_bad_records says: %w", n, r.progress.position.LastEpoch(), most, first)
	}
	if r.progress.position.Offset == 0 || r.ending() {
		r.reporter.notice(fmt.Sprintf("ignored %s in epoch %d; the first: %v", phrase.Count(int(n), "bad record"), r.progress.position.LastEpoch(), first))
	}
	return nil
}
