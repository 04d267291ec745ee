package optimizer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

// ScheduleConfig chooses the learning rate schedule: the keys schedule.* of a job file.
// See [Schedule] for the formulas.
type ScheduleConfig struct {
	// Kind is constant (the default), linear, exponential or cosine.
	Kind string `yaml:"kind"`

	// Steps is the length S of linear and cosine. 0 means the whole run.
	Steps int64 `yaml:"steps"`

	// WarmupSteps is the number of steps W in which the rate rises to its base.
	WarmupSteps int64 `yaml:"warmup_steps"`

	// End is the rate at the end of linear and cosine.
	End float64 `yaml:"end"`

	// DecayRate is the factor of exponential, above 0 and at most 1.
	DecayRate float64 `yaml:"decay_rate"`

	// DecaySteps is the number of steps in which exponential decays by its factor.
	DecaySteps int64 `yaml:"decay_steps"`

	// Staircase makes exponential decay in jumps every decay_steps.
	Staircase bool `yaml:"staircase"`
}

var schedules = []string{"constant", "linear", "exponential", "cosine"}

// Check returns all errors of c, joined, as usage errors. Every kind accepts steps.
func (c ScheduleConfig) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	kind := c.kind()
	if !slices.Contains(schedules, kind) {
		bad("schedule.kind is %q, want one of %s", c.Kind, strings.Join(schedules, ", "))
	}
	if c.Steps < 0 {
		bad("schedule.steps is %d, want 1 or more, or 0 for the whole run", c.Steps)
	}
	if c.WarmupSteps < 0 {
		bad("schedule.warmup_steps is %d, want 0 or more", c.WarmupSteps)
	}
	if !finite(c.End) || c.End < 0 {
		bad("schedule.end is %v, want 0 or more", c.End)
	} else if c.End != 0 && (kind == "constant" || kind == "exponential") {
		bad("schedule.end is %v, want none with schedule.kind %s", c.End, kind)
	}
	if kind == "exponential" {
		if !(c.DecayRate > 0 && c.DecayRate <= 1) {
			bad("schedule.decay_rate is %v, want a number above 0, at most 1", c.DecayRate)
		}
		if c.DecaySteps < 1 {
			bad("schedule.decay_steps is %d, want 1 or more", c.DecaySteps)
		}
	} else if c.DecayRate != 0 || c.DecaySteps != 0 || c.Staircase {
		bad("schedule.decay_rate, decay_steps or staircase is set, want none with schedule.kind %s", kind)
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

func (c ScheduleConfig) kind() string {
	if c.Kind == "" {
		return "constant"
	}
	return c.Kind
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
	return float32(s.decayed(step - s.c.WarmupSteps))
}

// decayed returns the rate t steps after the end of warm-up.
func (s Schedule) decayed(t int64) float64 {
	switch s.c.kind() {
	case "linear":
		return s.base + float64((s.c.End-s.base)*s.progress(t))
	case "cosine":
		return s.c.End + float64((s.base-s.c.End)*(1+math.Cos(math.Pi*s.progress(t)))/2)
	case "exponential":
		x := float64(t) / float64(s.c.DecaySteps)
		if s.c.Staircase {
			x = math.Floor(x)
		}
		return s.base * math.Pow(s.c.DecayRate, x)
	}
	return s.base
}

// UsesLength reports whether the rates depend on the length of the run.
func (c ScheduleConfig) UsesLength() bool {
	return c.Steps == 0 && (c.kind() == "linear" || c.kind() == "cosine")
}

// progress returns t as a share of the steps after warm-up, at most 1.
func (s Schedule) progress(t int64) float64 {
	whole := s.c.Steps - s.c.WarmupSteps
	if t >= whole {
		return 1
	}
	return float64(t) / float64(whole)
}
