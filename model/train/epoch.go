package train

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"ringtrain/export/checkpoint"
	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// tracker adds up losses, examples and times between reports.
type tracker struct {
	startedAt   time.Time
	reportedAt  time.Time // of the last report
	sinceReport times     // since the last report
	total       times     // of this process's steps

	loss        float64
	steps       int64 // since the last report, as loss and examples
	examples    int64
	allExamples int64 // of this process's steps

	mean report.Number // loss of the last report that had examples
}

// add counts one step.
func (t *tracker) add(a Agreed, took times) {
	t.sinceReport.add(took)
	t.total.add(took)
	t.loss += a.Loss
	t.steps++
	t.examples += a.Examples
	t.allExamples += a.Examples
}

// due reports whether the step is due for a report. The last step always is, if any step is.
func (t *tracker) due(every job.Every, step int64, last bool) bool {
	return every.Due(step, time.Since(t.reportedAt)) || last && every != (job.Every{})
}

// event returns the event for the steps since the last report, and starts the next interval.
func (t *tracker) event(l *Loop) report.Step {
	now := time.Now()
	interval := now.Sub(t.reportedAt)
	if t.examples > 0 { // else all records of these steps are bad
		t.mean = report.Number(t.loss / float64(t.examples))
	}
	e := report.Step{
		Step: l.Step, Examples: t.examples, LearningRate: report.Number(l.rate), Epoch: l.Source.Position().LastEpoch(), Loss: t.mean,
		ExamplesPerS: perSecond(t.examples, interval),
		Compute:      report.Seconds(t.sinceReport.compute), Update: report.Seconds(t.sinceReport.update), Reduce: report.Seconds(t.sinceReport.reduce), Input: report.Seconds(t.sinceReport.input),
		Exposed: report.Seconds(t.sinceReport.exposed), Steps: l.Steps,
		Interval: report.Seconds(interval), Left: report.Seconds(float64(interval) / float64(max(t.steps, 1)) * float64(max(l.Steps-l.Step, 0))),
	}
	if rank, share := l.straggler.find(interval); rank >= 0 {
		w := l.Group.Membership().Workers[rank]
		e.Straggler = &report.Straggler{Rank: w.Rank, Host: w.Host, Share: report.Number(share)}
	}
	due := t.mean
	e.Due = &due
	t.loss, t.steps, t.examples, t.reportedAt, t.sinceReport = 0, 0, 0, now, times{}
	return e
}

// perSecond returns the rate of n in the time that they took. No time counts as a nanosecond.
func perSecond(n int64, took time.Duration) float64 {
	return float64(n) / max(took, 1).Seconds()
}

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
