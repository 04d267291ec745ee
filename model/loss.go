package model

import (
	"slices"
	"strings"

	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// LossConfig chooses the loss: the keys loss.* of a job file.
type LossConfig struct {
	Kind           Loss    `yaml:"kind" default:"auto" doc:"Loss. auto is the one that fits the model."`
	Reduction      string  `yaml:"reduction" default:"mean" takes:"mean, sum" doc:"mean: the gradient is that of the mean over the global batch. sum: every example has weight 1."`
	LabelSmoothing float64 `yaml:"label_smoothing" takes:"0 or more and below 1" doc:"Share of each label that all classes get equal parts of, also in the loss of evaluations. ‘log_loss’ is without it."`
}

// Sum reports whether the reduction is sum.
func (c LossConfig) Sum() bool { return c.Reduction == "sum" }

// Loss is the name of a loss function, or auto.
type Loss string

// auto is the loss that fits the model.
const auto Loss = "auto"

// A lossKind is a loss function: all that distinguishes it from the others.
type lossKind struct {
	name     Loss
	head     graph.HeadKind
	function func(smoothing float32) lossFunc // of labels that are smoothed; squared ignores smoothing
}

// The losses.
var (
	squaredLoss = lossKind{"squared", graph.HeadRegression, func(float32) lossFunc { return squared{} }} // (ŷ−y)², without a factor ½
	softmaxLoss = lossKind{"softmax", graph.HeadClasses, func(s float32) lossFunc { return softmax{s} }} // cross-entropy of classes
	sigmoidLoss = lossKind{"sigmoid", graph.HeadBinary, func(s float32) lossFunc { return sigmoid{s} }}  // cross-entropy of 0 and 1
)

var losses = []lossKind{squaredLoss, softmaxLoss, sigmoidLoss}

// Takes returns auto and the names of all losses.
func (Loss) Takes() string {
	names := []string{string(auto)}
	for _, l := range losses {
		names = append(names, string(l.name))
	}
	return strings.Join(names, ", ")
}

// lossOf returns the loss of a head.
func lossOf(h graph.HeadKind) lossKind {
	return losses[slices.IndexFunc(losses, func(l lossKind) bool { return l.head == h })]
}

// headFor returns the head of the loss for so many classes, with names unless these are nil.
func (l lossKind) headFor(classes int, names []string) graph.Head {
	h := graph.Head{Kind: l.head, Labels: names}
	switch h.Kind {
	case graph.HeadClasses:
		h.Classes = classes
	case graph.HeadBinary:
		h.Classes = 2
	}
	return h
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
