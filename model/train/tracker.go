package train

import (
	"strconv"
	"time"

	"ringtrain/model/job"
	"ringtrain/model/train/report"
)

// tracker adds up losses, examples and times between the events of the steps. Each step belongs to a point, which is
// the interval of one event, and to a line, which is the interval of log.every. A line is one or more points.
type tracker struct {
	startedAt   time.Time
	total       times // of this process's steps
	allExamples int64 // of this process's steps

	point, line interval
	before      interval // line before the current one
	pace        float64  // steps in a nanosecond, of the last paceTime
	ranksAt     time.Time
	ranksTotal  time.Duration // of the steps until ranksAt
}

// interval is that of some steps.
type interval struct {
	at       time.Time // of its begin
	took     time.Duration
	times    times
	loss     float64
	steps    int64
	examples int64

	mean report.Number // loss of the last interval that had examples
}

// add counts one step.
func (i *interval) add(a Agreed, took times) {
	i.times.add(took)
	i.loss += a.Loss
	i.steps++
	i.examples += a.Examples
}

// end ends the interval, which has its mean loss then.
func (i *interval) end(now time.Time) {
	i.took = now.Sub(i.at)
	if i.examples > 0 { // else all records of these steps are bad
		i.mean = report.Number(i.loss / float64(i.examples))
	}
}

// next returns the interval that follows.
func (i *interval) next(now time.Time) interval { return interval{at: now, mean: i.mean} }

// start starts all intervals, and in another generation that of the ranks.
func (t *tracker) start(now time.Time) {
	if t.startedAt.IsZero() {
		t.startedAt, t.point.at, t.line.at = now, now, now
	}
	t.ranksAt, t.ranksTotal = now, t.total.all()
}

// add counts one step.
func (t *tracker) add(a Agreed, took times) {
	t.total.add(took)
	t.allExamples += a.Examples
	t.point.add(a, took)
	t.line.add(a, took)
}

// lineDue reports whether the step ends a line. The last step always does, if any step does.
func (t *tracker) lineDue(every job.Every, step int64, now time.Time, last bool) bool {
	return t.line.steps > 0 && (every.Due(step, now.Sub(t.line.at)) || last && every != (job.Every{}))
}

// pointDue reports whether the step ends a point.
func (t *tracker) pointDue(now time.Time, last bool) bool {
	return t.point.steps > 0 && (last || now.Sub(t.point.at) >= min(report.Distance(now.Sub(t.startedAt)), maxPoint))
}

// Bounds of the times between events.
const (
	maxPoint      = time.Second
	ranksInterval = time.Second // a line of a job without log.every takes as long
)

// event returns the event of the steps since the last one, which is the last of a line if it is due, and starts the
// next point.
func (t *tracker) event(l *Loop, now time.Time, due bool) report.Step {
	p, line := &t.point, &t.line
	p.end(now)
	line.end(now)
	e := report.Step{
		Step: l.Step, Steps: l.Steps, Epoch: l.Source.Position().LastEpoch(), Examples: p.examples, Loss: shortest(float32(p.mean)),
		LearningRate: shortest(l.Schedule.Rate(max(l.Step-1, 0))), ExamplesPerS: float64(shortest(float32(perSecond(p.examples, p.took)))), Interval: micro(p.took),
		Compute: micro(p.times.compute), Update: micro(p.times.update), Reduce: micro(p.times.reduce), Input: micro(p.times.input), Exposed: micro(p.times.exposed),
	}
	t.keepPace(now)
	e.Left = micro(time.Duration(float64(max(l.Steps-l.Step, 0)) / t.pace))
	took, from := line.took, l.loads.line
	if due {
		mean := line.mean
		e.Due = &mean
	} else { // the line is too short for a rate
		took, from = took+t.before.took, l.loads.before
	}
	if rank, share := l.loads.straggler(from, took); rank >= 0 {
		w := l.Group.Membership().Workers[rank]
		e.Straggler = &report.Straggler{Rank: w.Rank, Host: w.Host, Share: shortest(float32(share))}
	}
	*p = p.next(now)
	return e
}

// paceTime is the time over which the time left is foretold.
const paceTime = 30 * time.Second

// keepPace takes the pace of the point that ends: its weight is its share of paceTime, or of the run.
func (t *tracker) keepPace(now time.Time) {
	took := max(float64(t.point.took), 1)
	weight := min(1, took/min(float64(now.Sub(t.startedAt)), float64(paceTime)))
	t.pace += weight * (float64(t.point.steps)/took - t.pace)
}

// endLine starts the next line.
func (t *tracker) endLine(l *Loop, now time.Time) {
	t.line.end(now)
	t.before, t.line = t.line, t.line.next(now)
	l.loads.endLine()
}

// ranksDue reports whether an event of the ranks is due.
func (t *tracker) ranksDue(now time.Time, last bool) bool {
	return t.total.all() > t.ranksTotal && (last || now.Sub(t.ranksAt) >= ranksInterval)
}

// ranks returns the event of the ranks since the last one.
func (t *tracker) ranks(l *Loop, now time.Time) report.Ranks {
	total := t.total.all()
	e := l.loads.take(l.Group.Membership().Workers, total-t.ranksTotal)
	e.Step, e.Interval = l.Step, micro(now.Sub(t.ranksAt))
	t.ranksAt, t.ranksTotal = now, total
	return e
}

// micro returns a duration in whole microseconds: a history is mostly such numbers.
func micro(d time.Duration) report.Seconds { return report.Seconds(d.Round(time.Microsecond)) }

// shortest returns the number of the fewest digits that is v as a float32.
func shortest(v float32) report.Number {
	f, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	return report.Number(f)
}

// perSecond returns the rate of n in the time that they took. No time counts as a nanosecond.
func perSecond(n int64, took time.Duration) float64 {
	return float64(n) / max(took, 1).Seconds()
}
