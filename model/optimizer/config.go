package optimizer

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Config chooses the optimizer and its settings: the keys optimizer.* of a job file. An omitted setting
// has the optimizer's default; a setting that the optimizer does not have is an error. The list of
// optimizers has both.
type Config struct {
	Name               Name               `yaml:"name" default:"sgd" need:"yes" doc:"Optimizer. Those with the names of TensorFlow 1's have its settings and defaults, adamw has Keras's, lazy-adam is TensorFlow Addons'."`
	LearningRate       *float64           `yaml:"learning_rate" takes:"above 0" doc:"Learning rate. An optimizer without a default needs one."`
	LearningRates      map[string]float64 `yaml:"learning_rates" takes:"above 0" doc:"Learning rate of each optimizer by its name, as in optimizer.learning_rates.adam, used where optimizer.learning_rate is absent."`
	Momentum           *float64           `yaml:"momentum" takes:"0 or more and below 1" doc:"The share of the last update that is kept."`
	Nesterov           bool               `yaml:"nesterov" doc:"The form of Nesterov."`
	InitialAccumulator *float64           `yaml:"initial_accumulator" takes:"0 or more" doc:"What the accumulators begin with."`
	Rho                *float64           `yaml:"rho" takes:"0 or more and below 1" doc:"The decay of the averages."`
	Epsilon            *float64           `yaml:"epsilon" takes:"above 0" doc:"The constant that keeps divisors above 0."`
	WeightDecay        *float64           `yaml:"weight_decay" takes:"0 or more" doc:"Apart from the gradient, a step takes it, times the learning rate, off every weight. A penalty of model.l1 or .l2 is of the weights before that."`
	Beta1              *float64           `yaml:"beta1" takes:"0 or more and below 1" doc:"The decay of the mean of gradients."`
	Beta2              *float64           `yaml:"beta2" takes:"0 or more and below 1" doc:"The decay of the mean of squared gradients."`
	Centered           bool               `yaml:"centered" doc:"Divides by the deviation instead of the root mean square."`
	L1                 float64            `yaml:"l1" takes:"0 or more" doc:"The penalty on absolute weights, which leaves exact zeros."`
	L2                 float64            `yaml:"l2" takes:"0 or more" doc:"The penalty on squared weights."`
	L2Shrinkage        float64            `yaml:"l2_shrinkage" takes:"0 or more" doc:"A penalty on squared weights that is added to the gradient."`
	Power              *float64           `yaml:"power" takes:"0 or less" doc:"The power of the learning rate."`
}

// Name is the name of an optimizer.
type Name string

// Takes returns the names of all optimizers.
func (Name) Takes() string { return strings.Join(Names(), ", ") }

// Check returns all errors of c, joined, as usage errors.
func (c Config) Check() error {
	errs := keys.Check("optimizer", &c)
	if k, ok := kindOf(c.Name); ok {
		errs = append(errs, k.check(c)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.LearningRates)) {
		if _, ok := kindOf(Name(name)); !ok {
			errs = append(errs, fmt.Errorf("optimizer.learning_rates has %q, want one of %s", name, Name("").Takes()))
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// check returns the errors of settings that k does not have, or of which it takes other values.
func (k kind) check(c Config) []error {
	taken := []string{"name", "learning_rate", "learning_rates"}
	for _, s := range k.settings {
		taken = append(taken, s.key)
	}
	with := "optimizer.name " + string(k.name)
	errs := keys.Unused("optimizer", &c, taken, with)
	for f, s := range k.settingsOf(&c) {
		if v := reflect.Indirect(f.Value); s.takes != "" && v.IsValid() && s.takes.Refuses(v) != "" {
			errs = append(errs, fmt.Errorf("optimizer.%s is %v, want %s with %s", s.key, v, s.takes, with))
		}
	}
	if k.withDefaults(c).LearningRate == nil {
		errs = append(errs, fmt.Errorf("optimizer.learning_rate is missing, want one above 0: %s has no default", k.name))
	}
	return errs
}

// Rate returns the base learning rate: learning_rate, else the optimizer's entry in learning_rates, else
// its default. It is 0 if all are missing, which Check reports.
func (c Config) Rate() float64 {
	k, _ := kindOf(c.Name)
	if c = k.withDefaults(c); c.LearningRate == nil {
		return 0
	}
	return *c.LearningRate
}

// MovesAllRows reports whether a step changes all rows of a table, not only those of the batch. Such a
// step passes over the whole table.
func (c Config) MovesAllRows() bool {
	k, _ := kindOf(c.Name)
	return k.movesAll
}

// Slots returns the number of slots of a variable.
func (c Config) Slots() int {
	k, _ := kindOf(c.Name)
	return len(k.initial(c))
}

// Explain completes the text of a key with the optimizers that have it, and with their defaults.
func (Config) Explain(key, doc string) string {
	var of, moving, standards []string
	names := map[string][]string{} // of the optimizers with a default
	for _, k := range kinds {
		if k.movesAll {
			moving = append(moving, string(k.name))
		}
		for _, s := range k.settings {
			if s.key != key {
				continue
			}
			of = append(of, string(k.name))
			if names[s.standard] == nil {
				standards = append(standards, s.standard)
			}
			names[s.standard] = append(names[s.standard], string(k.name))
			if s.takes != "" {
				doc += fmt.Sprintf(" Of %s it is %s.", k.name, s.takes)
			}
		}
	}
	switch {
	case key == "name":
		return fmt.Sprintf("%s In each step %s move every row of a table, as TensorFlow does, the others those that the batch touches.", doc, phrase.And(moving))
	case of == nil, standards[0] == "":
		return keys.Owned(of, doc)
	}
	for i, text := range standards {
		standards[i] += " for " + phrase.And(names[text])
	}
	return doc + " Default: " + strings.Join(standards, ", ") + "."
}
