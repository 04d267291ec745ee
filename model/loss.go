package model

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// LossConfig chooses the loss: the keys loss.* of a job file.
type LossConfig struct {
	// Kind is squared (ŷ−y)², softmax or sigmoid cross-entropy, or auto, the default:
	// the loss that fits the model.
	Kind string `yaml:"kind"`

	// Reduction is mean, the default, or sum. With mean the gradient is that of the mean
	// loss over the global batch; with sum every example counts 1.
	Reduction string `yaml:"reduction"`

	// LabelSmoothing is the share of each label that is distributed equally over all
	// classes, below 1, in training and evaluation, as in Keras.
	LabelSmoothing float64 `yaml:"label_smoothing"`
}

// Sum reports whether the reduction is sum.
func (c LossConfig) Sum() bool { return c.Reduction == "sum" }

// Loss is a loss function.
type Loss int

// The losses.
const (
	Squared Loss = iota + 1 // (ŷ−y)², without a factor ½
	Softmax                 // cross-entropy of classes
	Sigmoid                 // cross-entropy of 0 and 1
)

// String returns the loss's name in job files.
func (l Loss) String() string {
	switch l {
	case Squared:
		return "squared"
	case Softmax:
		return "softmax"
	case Sigmoid:
		return "sigmoid"
	}
	return fmt.Sprintf("Loss(%d)", int(l))
}

// losses returns all losses in the order of lossNames.
var losses = []Loss{Squared, Softmax, Sigmoid}

var lossNames = []string{"squared", "softmax", "sigmoid"}

// check returns the errors of c that do not depend on the model.
func (c LossConfig) check() []error {
	var errs []error
	if kinds := append([]string{"auto"}, lossNames...); c.Kind != "" && !slices.Contains(kinds, c.Kind) {
		errs = append(errs, fmt.Errorf("loss.kind is %q, want one of %s", c.Kind, strings.Join(kinds, ", ")))
	}
	if c.Reduction != "" && c.Reduction != "mean" && c.Reduction != "sum" {
		errs = append(errs, fmt.Errorf("loss.reduction is %q, want one of mean, sum", c.Reduction))
	}
	if !(c.LabelSmoothing >= 0 && c.LabelSmoothing < 1) {
		errs = append(errs, fmt.Errorf("loss.label_smoothing is %v, want 0 or more and less than 1", c.LabelSmoothing))
	}
	return errs
}

// lossFunc is the arithmetic of a loss. It maps the outputs z of the last layer to
// scores, one row per example, and computes the gradient.
type lossFunc interface {
	// forward writes the scores of z and, if losses is not nil, the loss of each example
	// for its label in y.
	forward(e *kernel.Engine, scores, z tensor.Matrix, losses []float64, y []float32)

	// backward writes the gradient of Σ weight[i]·loss[i] with respect to z.
	backward(e *kernel.Engine, dz, scores tensor.Matrix, y, weight []float32)
}

// function returns the arithmetic of the loss with smoothed labels. The squared loss
// ignores smoothing.
func (l Loss) function(smoothing float32) lossFunc {
	switch l {
	case Squared:
		return squared{}
	case Softmax:
		return softmax{smoothing}
	case Sigmoid:
		return sigmoid{smoothing}
	}
	panic("model: no such loss")
}
