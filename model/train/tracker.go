package train

import (
	"time"

	"ringtrain/model/job"
	"ringtrain/model/train/report"
)

// tracker adds up losses and examples between reports.
type tracker struct {
	begun time.Time
	since time.Time // of the last report
	times times     // since the last report
	whole times     // of this process's steps

	loss        float64
	examples    int64
	allExamples int64 // of this process's steps
}

func (t *tracker) start(now time.Time) { t.begun, t.since = now, now }

// add counts one step.
func (t *tracker) add(a Agreed, took times) {
	t.times.add(took)
	t.whole.add(took)
	t.loss += a.Loss
	t.examples += a.Examples
	t.allExamples += a.Examples
}

// due tells whether the step is to be reported; the last one is, if any.
func (t *tracker) due(every job.Every, step int64, last bool) bool {
	return every.Due(step, time.Since(t.since)) || last && every != (job.Every{})
}

// event reports what came since the last report and starts anew.
func (t *tracker) event(l *Loop) report.Step {
	now := time.Now()
	e := report.Step{
		Step: l.Step, Epoch: l.Source.Position().LastEpoch(), Loss: report.Number(t.loss / float64(t.examples)),
		ExamplesPerS: perSecond(t.examples, now.Sub(t.since)),
		Compute:      report.Seconds(t.times.compute), Update: report.Seconds(t.times.update), Reduce: report.Seconds(t.times.reduce), Input: report.Seconds(t.times.input),
		Exposed: report.Seconds(t.times.exposed), Steps: l.Steps,
	}
	t.loss, t.examples, t.since, t.times = 0, 0, now, times{}
	return e
}

// perSecond is a rate; no time at all counts as a nanosecond.
func perSecond(n int64, took time.Duration) float64 {
	return float64(n) / max(took, 1).Seconds()
}
