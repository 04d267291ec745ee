package show

import (
	"sync"
	"time"

	"ringtrain/model/train/report"
)

// A runState has what the events of a run have told, as far as people see it.
type runState struct {
	start    report.Start
	all      stretch // since the start
	shown    stretch // the last whole second, or what there is of the first
	second   stretch // the second that goes on
	eval     *report.Metrics
	evals    []report.Metrics // those of input.evals after eval, and of the test records
	saved    *report.Checkpointed
	exported *report.Exported
	done     *report.Done
	over     bool   // the run has ended
	hang     string // for which rank the others wait while nothing moves; "": none
}

// A following is the state of a run that goes on, which a live block reads at any time.
type following struct {
	mu sync.Mutex // locked for a change, and by other goroutines
	runState
}

func (f *following) add(e report.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runState.add(e)
}

// add takes the next event of the run.
func (s *runState) add(e report.Event) {
	switch e := e.(type) {
	case report.Start:
		*s = runState{start: e}
	case report.Generation:
		s.start.WorldSize = e.WorldSize
	case report.Step:
		s.all.add(e)
		s.second.add(e)
		if s.second.step.Interval >= shownTime || s.shown.step.Interval < shownTime {
			s.shown = s.second
		}
		if s.second.step.Interval >= shownTime {
			s.second = stretch{}
		}
	case report.Metrics:
		if e.Name == "" && e.Split != "test" {
			s.eval, s.evals = &e, nil
		} else {
			s.evals = append(s.evals, e)
		}
	case report.Checkpointed:
		s.saved = &e
	case report.Exported:
		s.exported = &e
	case report.Done:
		s.done, s.over = &e, true
		if e.Eval != nil {
			s.eval = e.Eval
		}
	case report.Failure:
		s.over = true
	}
}

// saysNothing reports whether a choice changes nothing: that of the codec on one host, where gradients stay in memory.
func (s *runState) saysNothing(d report.Decision) bool { return d.What == "codec" && s.start.Hosts < 2 }

// shownTime is the time over which the facts of a step are taken: those of a single one change too fast to be read.
const shownTime = report.Seconds(time.Second)

// minWait is the minimum share of a stretch that is said to be waited for a rank.
const minWait = 0.1

// A stretch has the steps of a part of a run, and how long the ranks waited for one of them.
type stretch struct {
	step   report.Step
	waited map[report.Straggler]report.Seconds // without shares
}

func (s *stretch) add(e report.Step) {
	if s.step.Interval > 0 {
		s.step = s.step.Add(e)
	} else {
		*s = stretch{e, map[report.Straggler]report.Seconds{}}
	}
	if of := e.Straggler; of != nil {
		s.waited[report.Straggler{Rank: of.Rank, Host: of.Host}] += report.Seconds(float64(of.Share) * float64(e.Interval))
	}
}

// straggler returns the rank that was waited for most, nil if no rank was for minWait.
func (s stretch) straggler() *report.Straggler {
	var most report.Straggler
	for of, took := range s.waited {
		if of.Share = report.Number(took) / report.Number(s.step.Interval); of.Share > most.Share {
			most = of
		}
	}
	if most.Share < minWait {
		return nil
	}
	return &most
}
