package report

import "time"

// Step reports the steps since the last such event. The stream of a run has one for each point of its
// history and for each log.every; [Step.Add] makes one of several.
type Step struct {
	Step         int64   `json:"step"`          // completed
	Steps        int64   `json:"steps"`         // of the whole run
	Epoch        int64   `json:"epoch"`         // from 1
	Examples     int64   `json:"examples"`      // since the last event
	Loss         Number  `json:"loss"`          // mean per example since the last event
	LearningRate Number  `json:"learning_rate"` // of the last update
	ExamplesPerS float64 `json:"examples_per_s"`
	Interval     Seconds `json:"interval_s"` // since the last event
	Compute      Seconds `json:"compute_s"`
	Update       Seconds `json:"update_s"` // part of compute_s: time in the optimizer
	Reduce       Seconds `json:"reduce_s"` // the whole exchange, hidden behind backward or not
	Input        Seconds `json:"input_s"`
	Exposed      Seconds `json:"exposed_s"` // part of reduce_s: time in which training waited
	Left         Seconds `json:"left_s"`    // until the last step at the pace of the last half minute

	// Objective is the loss plus the penalties of the current weights; nil without penalties.
	Objective *Number `json:"objective,omitempty"`

	// Straggler is the rank that the others waited for since the last step that was due, or, if this step
	// is not, since the one before; nil if the ranks were about equally busy.
	Straggler *Straggler `json:"straggler,omitempty"`

	// Due marks a step of log.every in the stream. It is the mean loss per example since the last step
	// that was due: so its bits do not depend on the points between.
	Due *Number `json:"due,omitempty"`
}

// Straggler is a rank that makes the others wait.
type Straggler struct {
	Rank  int    `json:"rank"`
	Host  string `json:"host"`
	Share Number `json:"share"` // of the interval, by which it was busier than the others on average
}

// Distance returns the time between two points of the history of a run that began so long ago.
func Distance(age time.Duration) time.Duration { return max(age/500, 20*time.Millisecond) }

// Add returns the event of the steps of s and of those of next, which follow them.
func (s Step) Add(next Step) Step {
	sum := next
	sum.Examples += s.Examples
	if s.Examples > 0 && next.Examples > 0 {
		sum.Loss = (s.Loss*Number(s.Examples) + next.Loss*Number(next.Examples)) / Number(sum.Examples)
	} else if next.Examples == 0 {
		sum.Loss = s.Loss
	}
	sum.Interval += s.Interval
	sum.Compute += s.Compute
	sum.Update += s.Update
	sum.Reduce += s.Reduce
	sum.Input += s.Input
	sum.Exposed += s.Exposed
	if sum.Interval > 0 {
		sum.ExamplesPerS = float64(sum.Examples) / float64(sum.Interval) * 1e9
	}
	if next.Straggler == nil && next.Due == nil { // else next speaks of the whole line
		sum.Straggler = s.Straggler
	}
	return sum
}

// ExchangeShare returns the share of the step in which training waited for the exchange.
func (s Step) ExchangeShare() float64 {
	all := s.Input + s.Compute + s.Exposed
	if all <= 0 {
		return 0
	}
	return float64(s.Exposed) / float64(all)
}

// Sum adds the steps of the stream up to those of log.every. The zero value has no steps.
type Sum struct {
	steps Step
	begun bool
}

// Add adds a step of the stream. If the step is due, Add returns the sum since the last one that was,
// without the mark.
func (s *Sum) Add(next Step) (sum Step, due bool) {
	if s.begun {
		next = s.steps.Add(next)
	}
	s.steps, s.begun = next, next.Due == nil
	if s.begun {
		return Step{}, false
	}
	next.Loss, next.Due = *next.Due, nil
	return next, true
}
