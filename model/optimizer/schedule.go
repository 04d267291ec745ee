package optimizer

import (
	"errors"
	"math"
	"slices"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
)

// ScheduleConfig chooses the learning rate schedule: the keys schedule.* of a job file.
// See [Schedule] for the formulas.
type ScheduleConfig struct {
	Kind        ScheduleKind `yaml:"kind" default:"constant" doc:"How the learning rate moves."`
	Steps       int64        `yaml:"steps" takes:"0 or more" doc:"Steps of linear and cosine. 0: the whole run, as long as it now is. A run that is made longer stretches its schedule, and says so. With more steps than these a run is warned once if the rate is then 0."`
	WarmupSteps int64        `yaml:"warmup_steps" takes:"0 or more" doc:"Steps in which the rate rises to its base."`
	End         float64      `yaml:"end" takes:"0 or more" doc:"The rate at the end."`
	DecayRate   float64      `yaml:"decay_rate" takes:"above 0 and at most 1" doc:"The factor."`
	DecaySteps  int64        `yaml:"decay_steps" takes:"1 or more" doc:"The steps that one factor takes."`
	Staircase   bool         `yaml:"staircase" doc:"The rate falls at once every schedule.decay_steps steps."`
}

// A curve is a kind of schedule.
type curve struct {
	name ScheduleKind
	keys []string                          // that it has, besides kind, steps and warmup_steps
	need []string                          // of these, what a job must say
	rate func(s Schedule, t int64) float64 // t steps after warm-up
}

// curves has all kinds of schedules.
var curves = []curve{
	{name: "constant", rate: func(s Schedule, _ int64) float64 { return s.base }},
	{name: "linear", keys: []string{"end"}, rate: func(s Schedule, t int64) float64 {
		return s.base + float64((s.c.End-s.base)*s.progress(t))
	}},
	{name: "exponential", keys: []string{"decay_rate", "decay_steps", "staircase"}, need: []string{"decay_rate", "decay_steps"}, rate: exponential},
	{name: "cosine", keys: []string{"end"}, rate: func(s Schedule, t int64) float64 {
		return s.c.End + float64((s.base-s.c.End)*(1+math.Cos(math.Pi*s.progress(t)))/2)
	}},
}

func exponential(s Schedule, t int64) float64 {
	x := float64(t) / float64(s.c.DecaySteps)
	if s.c.Staircase {
		x = math.Floor(x)
	}
	return s.base * math.Pow(s.c.DecayRate, x)
}

// ScheduleKind is the name of a kind of schedule.
type ScheduleKind string

// Takes returns the names of all kinds.
func (ScheduleKind) Takes() string {
	var names []string
	for _, c := range curves {
		names = append(names, string(c.name))
	}
	return strings.Join(names, ", ")
}

// curve returns the curve of c, the first one for an unknown kind.
func (c ScheduleConfig) curve() curve {
	return curves[max(0, slices.IndexFunc(curves, func(of curve) bool { return of.name == c.Kind }))]
}

// Check returns all errors of c, joined, as usage errors.
func (c ScheduleConfig) Check() error {
	c = keys.Fill(c)
	errs, of := keys.Check("schedule", &c), c.curve()
	taken := append([]string{"kind", "steps", "warmup_steps"}, of.keys...)
	errs = append(errs, keys.Unused("schedule", &c, taken, "schedule.kind "+string(c.Kind))...)
	errs = append(errs, keys.Missing("schedule", &c, of.need)...)
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// Explain completes the text of a key with the kinds that have it.
func (ScheduleConfig) Explain(key, doc string) string {
	var of []string
	for _, c := range curves {
		if slices.Contains(c.keys, key) {
			of = append(of, string(c.name))
		}
	}
	return keys.Owned(of, doc)
}

// Schedule computes the learning rate of each step. Steps count from 0. The rate of step
// s < W, in warm-up, is base·(s+1)/W. After the warm-up, with t = s−W and x =
// min(t/(S−W), 1), it is:
//
//	constant      base
//	linear        base + (end−base)·x
//	cosine        end + (base−end)·(1+cos πx)/2
//	exponential   base·rate^(t/decay_steps), the exponent rounded down with staircase
//
// So linear and cosine reach end at step S and stay there. The formulas are computed in
// float64 and rounded once. They are TensorFlow's polynomial_decay (power 1),
// cosine_decay and exponential_decay.
type Schedule struct {
	c    ScheduleConfig
	base float64
}

// NewSchedule returns the schedule that c describes, from a base rate, for a
// run of the given number of steps.
func NewSchedule(c ScheduleConfig, base float64, steps int64) (Schedule, error) {
	if err := c.Check(); err != nil {
		return Schedule{}, err
	}
	if c.Steps == 0 {
		c.Steps = steps
	}
	return Schedule{c, base}, nil
}

// Rate returns the learning rate of a step.
func (s Schedule) Rate(step int64) float32 {
	if step < s.c.WarmupSteps {
		return float32(s.base * float64(step+1) / float64(s.c.WarmupSteps))
	}
	return float32(s.c.curve().rate(s, step-s.c.WarmupSteps))
}

// UsesLength reports whether the rates depend on the length of the run.
func (c ScheduleConfig) UsesLength() bool {
	return c.Steps == 0 && slices.Contains(c.curve().keys, "end")
}

// progress returns t as a share of the steps after warm-up, at most 1.
func (s Schedule) progress(t int64) float64 {
	whole := s.c.Steps - s.c.WarmupSteps
	if t >= whole {
		return 1
	}
	return float64(t) / float64(whole)
}
