package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

// The kinds of models.
const (
	kindLinear       = "linear"
	kindSoftmax      = "softmax"
	kindMLP          = "mlp"
	kindSparseLinear = "sparse-linear"
)

// maxParameters bounds a model at 16 GiB of float32 values.
const maxParameters = 1 << 32

// Config describes a model: the keys model.* of a job file.
type Config struct {
	// Kind is linear (y = x·w + b), softmax (classes by a linear layer), mlp
	// (classes by hidden layers and a linear one) or sparse-linear (click
	// probability from ids with values).
	Kind string `yaml:"kind"`

	// Classes is the number of classes of softmax and mlp, from 2.
	Classes int `yaml:"classes"`

	// Features is the number of features of an example: columns, or one more
	// than the largest id. 0: as many as the training data has.
	Features int `yaml:"features"`

	// Hidden has the sizes of the hidden layers of mlp, first layer first.
	Hidden []int `yaml:"hidden"`

	// Activation follows each hidden layer of mlp: relu, which is the default.
	Activation string `yaml:"activation"`
}

// Check returns all that is wrong with c, joined, as usage errors.
func (c Config) Check() error {
	errs := []error{c.checkKind()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Features < 0 {
		bad("model.features is %d, want 1 or more, or 0 for as many as the data has", c.Features)
	}
	if !c.hasClasses() && c.Classes != 0 && c.built() {
		bad("model.classes is %d, want none with model.kind %s", c.Classes, c.Kind)
	}
	if c.hasClasses() && c.Classes < 2 {
		bad("model.classes is %d, want 2 or more", c.Classes)
	}
	if c.Kind == kindMLP {
		errs = append(errs, c.checkHidden()...)
	} else if c.built() {
		if len(c.Hidden) > 0 {
			bad("model.hidden is %v, want none with model.kind %s", c.Hidden, c.Kind)
		}
		if c.Activation != "" {
			bad("model.activation is %s, want none with model.kind %s", c.Activation, c.Kind)
		}
	}
	err := errors.Join(errs...)
	if err == nil && c.tooLarge() {
		err = fmt.Errorf("model has more than %d parameters: make model.features, model.hidden or model.classes smaller", maxParameters)
	}
	return exitcode.With(exitcode.Usage, err)
}

func (c Config) checkKind() error {
	built := []string{kindLinear, kindSoftmax, kindMLP, kindSparseLinear}
	if slices.Contains(built, c.Kind) {
		return nil
	}
	want := strings.Join(built, ", ")
	if slices.Contains([]string{"cnn", "fm", "wide-deep", "deepfm"}, c.Kind) {
		return fmt.Errorf("model.kind is %s, which is not built yet, want one of %s", c.Kind, want)
	}
	return fmt.Errorf("model.kind is %q, want one of %s", c.Kind, want)
}

func (c Config) checkHidden() []error {
	var errs []error
	if len(c.Hidden) == 0 {
		errs = append(errs, errors.New("model.hidden is empty, want one size or more with model.kind mlp"))
	}
	for i, n := range c.Hidden {
		if n < 1 {
			errs = append(errs, fmt.Errorf("model.hidden[%d] is %d, want 1 or more", i, n))
		}
	}
	if c.Activation != "" && c.Activation != "relu" {
		errs = append(errs, fmt.Errorf("model.activation is %q, want relu", c.Activation))
	}
	return errs
}

func (c Config) built() bool { return c.checkKind() == nil }

func (c Config) hasClasses() bool { return c.Kind == kindSoftmax || c.Kind == kindMLP }

// tooLarge tells whether the layers have more than maxParameters parameters.
// No product of its sizes overflows.
func (c Config) tooLarge() bool {
	total, in := 0, c.Features
	for _, out := range append(slices.Clone(c.Hidden), max(c.Classes, 1)) {
		if in >= maxParameters/out {
			return true
		}
		total += (in + 1) * out
		in = out
		if total > maxParameters {
			return true
		}
	}
	return false
}
