package rendezvous

import "time"

// paceTime is how far back the speed is measured, at most.
const paceTime = 20 * time.Second

// pace measures the speed of a job from the steps that heartbeats tell.
type pace struct {
	marks []mark // in order of time and of steps
}

// mark is when a step was first heard of.
type mark struct {
	at   time.Duration
	step int64
}

// note takes in a step at now.
func (p *pace) note(now time.Duration, step int64) {
	n := len(p.marks)
	switch {
	case step < 0:
	case n > 0 && step < p.marks[n-1].step: // of a rank that is behind
	case n == 0 || now-p.marks[n-1].at >= BeatEvery/2:
		p.marks = append(p.marks, mark{now, step})
	}
	for len(p.marks) > 2 && now-p.marks[0].at > paceTime {
		p.marks = p.marks[1:]
	}
}

// perSecond returns the steps in a second up to now, 0 if they are not known.
func (p *pace) perSecond(now time.Duration) float64 {
	n := len(p.marks)
	if n < 2 {
		return 0
	}
	took := max(p.marks[n-1].at, now-2*BeatEvery) - p.marks[0].at
	if took <= 0 {
		return 0
	}
	return float64(p.marks[n-1].step-p.marks[0].step) / took.Seconds()
}
