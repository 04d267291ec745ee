package optimizer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

// Config chooses the optimizer and its settings: the keys optimizer.* of a job file. An
// omitted setting has TensorFlow 1's default for that optimizer; a setting that the
// optimizer does not have is an error.
type Config struct {
	// Name is sgd, momentum, adagrad, adadelta, adam, lazy-adam, adamw, ftrl or rmsprop.
	Name string `yaml:"name"`

	// LearningRate is η, above 0. If omitted, it is that of learning_rates, else 0.001
	// for adam, lazy-adam, adamw and adadelta; the others have no default.
	LearningRate *float64 `yaml:"learning_rate"`

	// LearningRates has rates by optimizer name, used if learning_rate is omitted.
	LearningRates map[string]float64 `yaml:"learning_rates"`

	// Momentum is μ of momentum (0.9; TensorFlow has no default) and rmsprop
	// (0), from 0 to below 1.
	Momentum *float64 `yaml:"momentum"`

	// Nesterov selects Nesterov's form of momentum.
	Nesterov bool `yaml:"nesterov"`

	// InitialAccumulator is the initial value of the sum of squares of adagrad (0.1,
	// above 0) and ftrl (0.1, 0 or more).
	InitialAccumulator *float64 `yaml:"initial_accumulator"`

	// Rho is the decay ρ of adadelta (0.95) and rmsprop (0.9), from 0 to below 1.
	Rho *float64 `yaml:"rho"`

	// Epsilon is ε of adadelta (1e-8), adam (1e-8), lazy-adam (1e-7), adamw (1e-7, as Keras's) and
	// rmsprop (1e-10), above 0.
	Epsilon *float64 `yaml:"epsilon"`

	// WeightDecay is λ of adamw (0.004, as in Keras), 0 or more. It is not a term of the
	// loss: a step subtracts λ times the learning rate times the weight from every
	// weight.
	WeightDecay *float64 `yaml:"weight_decay"`

	// Beta1 is β₁ of adam, lazy-adam and adamw (0.9), from 0 to below 1.
	Beta1 *float64 `yaml:"beta1"`

	// Beta2 is β₂ of adam, lazy-adam and adamw (0.999), from 0 to below 1.
	Beta2 *float64 `yaml:"beta2"`

	// Centered makes rmsprop subtract the squared mean of the gradients.
	Centered bool `yaml:"centered"`

	// L1 is λ₁ of ftrl, 0 or more.
	L1 float64 `yaml:"l1"`

	// L2 is λ₂ of ftrl, 0 or more.
	L2 float64 `yaml:"l2"`

	// L2Shrinkage is λₛ of ftrl, 0 or more.
	L2Shrinkage float64 `yaml:"l2_shrinkage"`

	// Power is p of ftrl (−0.5), 0 or less.
	Power *float64 `yaml:"power"`
}

var names = []string{"sgd", "momentum", "adagrad", "adadelta", "adam", "lazy-adam", "adamw", "ftrl", "rmsprop"}

// setting is a number of Config with the optimizers that have it and its range.
type setting struct {
	key   string
	value *float64 // nil if omitted
	of    []string // names of optimizers
	rule  string
	right func(x float32) bool
}

func (c Config) settings() []setting {
	fraction := func(x float32) bool { return x >= 0 && x < 1 }
	positive := func(x float32) bool { return x > 0 }
	notNegative := func(x float32) bool { return x >= 0 }
	given := func(x float64) *float64 {
		if x == 0 {
			return nil
		}
		return &x
	}
	accumulator := setting{"initial_accumulator", c.InitialAccumulator, []string{"adagrad", "ftrl"}, "a number above 0", positive}
	if c.Name == "ftrl" {
		accumulator.rule, accumulator.right = "0 or more", notNegative
	}
	return []setting{
		{"learning_rate", c.LearningRate, names, "a number above 0", positive},
		{"momentum", c.Momentum, []string{"momentum", "rmsprop"}, "0 or more and below 1", fraction},
		accumulator,
		{"rho", c.Rho, []string{"adadelta", "rmsprop"}, "0 or more and below 1", fraction},
		{"epsilon", c.Epsilon, []string{"adadelta", "adam", "lazy-adam", "adamw", "rmsprop"}, "a number above 0", positive},
		{"weight_decay", c.WeightDecay, []string{"adamw"}, "0 or more", notNegative},
		{"beta1", c.Beta1, []string{"adam", "lazy-adam", "adamw"}, "0 or more and below 1", fraction},
		{"beta2", c.Beta2, []string{"adam", "lazy-adam", "adamw"}, "0 or more and below 1", fraction},
		{"l1", given(c.L1), []string{"ftrl"}, "0 or more", notNegative},
		{"l2", given(c.L2), []string{"ftrl"}, "0 or more", notNegative},
		{"l2_shrinkage", given(c.L2Shrinkage), []string{"ftrl"}, "0 or more", notNegative},
		{"power", c.Power, []string{"ftrl"}, "0 or less", func(x float32) bool { return x <= 0 }},
	}
}

// MovesAllRows reports whether a step changes all rows of a table, not only those of the
// batch. Such a step passes over the whole table.
func (c Config) MovesAllRows() bool { return c.Name == "adam" || c.Name == "adamw" }

// Check returns all errors of c, joined, as usage errors.
func (c Config) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	known := slices.Contains(names, c.Name)
	if !known {
		bad("optimizer.name is %q, want one of %s", c.Name, strings.Join(names, ", "))
	}
	for _, s := range c.settings() {
		switch {
		case s.value == nil:
		case known && !slices.Contains(s.of, c.Name):
			bad("optimizer.%s is %v, want none with optimizer.name %s", s.key, *s.value, c.Name)
		case !finite(*s.value) || !s.right(float32(*s.value)):
			bad("optimizer.%s is %v, want %s", s.key, *s.value, s.rule)
		}
	}
	if known && c.Nesterov && c.Name != "momentum" {
		bad("optimizer.nesterov is true, want none with optimizer.name %s", c.Name)
	}
	if known && c.Centered && c.Name != "rmsprop" {
		bad("optimizer.centered is true, want none with optimizer.name %s", c.Name)
	}
	errs = append(errs, c.checkRates()...)
	if _, ok := c.rate(); known && !ok {
		bad("optimizer.learning_rate is missing, want a number above 0: %s has no default", c.Name)
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

func (c Config) checkRates() []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.LearningRates)) {
		rate := c.LearningRates[name]
		if !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("optimizer.learning_rates has %q, want one of %s", name, strings.Join(names, ", ")))
		} else if !finite(rate) || float32(rate) <= 0 {
			errs = append(errs, fmt.Errorf("optimizer.learning_rates.%s is %v, want a number above 0", name, rate))
		}
	}
	return errs
}

// finite reports whether x is within the range of float32.
func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat32 }

// Rate returns the base learning rate: learning_rate, else the optimizer's entry in
// learning_rates, else its default. It is 0 if all are missing, which Check reports.
func (c Config) Rate() float64 {
	r, _ := c.rate()
	return r
}

func (c Config) rate() (float64, bool) {
	if c.LearningRate != nil {
		return *c.LearningRate, true
	}
	if r, ok := c.LearningRates[c.Name]; ok {
		return r, true
	}
	if slices.Contains([]string{"adam", "lazy-adam", "adamw", "adadelta"}, c.Name) {
		return 0.001, true
	}
	return 0, false
}

// The following methods return the settings with TensorFlow's defaults.

func (c Config) momentum() float32 {
	if c.Name == "momentum" {
		return value(c.Momentum, 0.9)
	}
	return value(c.Momentum, 0)
}

func (c Config) rho() float32 {
	if c.Name == "adadelta" {
		return value(c.Rho, 0.95)
	}
	return value(c.Rho, 0.9)
}

func (c Config) epsilon() float32 {
	switch c.Name {
	case "rmsprop":
		return value(c.Epsilon, 1e-10)
	case "adamw", "lazy-adam":
		return value(c.Epsilon, 1e-7)
	}
	return value(c.Epsilon, 1e-8)
}

func (c Config) initialAccumulator() float32 { return value(c.InitialAccumulator, 0.1) }
func (c Config) weightDecay() float32        { return value(c.WeightDecay, 0.004) }
func (c Config) beta1() float32              { return value(c.Beta1, 0.9) }
func (c Config) beta2() float32              { return value(c.Beta2, 0.999) }
func (c Config) power() float32              { return value(c.Power, -0.5) }

func value(p *float64, otherwise float64) float32 {
	return float32(*cmp.Or(p, &otherwise))
}
