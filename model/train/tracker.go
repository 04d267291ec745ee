package train

import (
	"time"
)

// tracker adds up losses, examples and times between reports.
type tracker struct {
	begun time.Time
	since time.Time // of the last report
	step  int64     // at the last report

	loss, epochLoss         float64
	examples, epochExamples int64
	allExamples             int64
	lastEpochLoss           Number
}

func (t *tracker) start() {
	t.begun = time.Now()
	t.since = t.begun
}

// add counts one step.
func (t *tracker) add(a Agreed) {
	if a.Offset == 0 { // the first batch of an epoch
		t.epochLoss, t.epochExamples = 0, 0
	}
	t.loss += a.Loss
	t.examples += a.Examples
	t.epochLoss += a.Loss
	t.epochExamples += a.Examples
	t.allExamples += a.Examples
	t.lastEpochLoss = Number(t.epochLoss / float64(t.epochExamples))
}

// due tells whether the step is to be reported; the last one is, if any.
func (t *tracker) due(every Every, step int64, last bool) bool {
	return every.due(step, time.Since(t.since)) || last && every != (Every{})
}

// event reports what came since the last report and starts anew.
func (t *tracker) event(l *Loop) Step {
	now := time.Now()
	took := max(now.Sub(t.since).Seconds(), 1e-9)
	p := l.Source.Position()
	epoch := p.Epoch + 1
	if p.Offset == 0 {
		epoch = max(p.Epoch, 1)
	}
	e := Step{
		Step: l.Step, Epoch: epoch, Loss: Number(t.loss / float64(t.examples)),
		ExamplesPerS: float64(t.examples) / took,
		Compute:      Seconds(l.times.compute), Reduce: Seconds(l.times.reduce), Input: Seconds(l.times.input),
		Steps: l.Steps,
	}
	t.loss, t.examples, t.since, t.step = 0, 0, now, l.Step
	l.times = times{}
	return e
}
