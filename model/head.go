package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ringtrain/model/graph"
)

// Head returns the meaning of the model's outputs under a loss: their kind and, as far
// as c determines it, their number. c must have passed Check.
func (c Config) Head(l LossConfig) graph.Head {
	h, err := c.head(l)
	if err != nil {
		panic("model: Head of a Config that Check refuses")
	}
	return h
}

func (c Config) head(l LossConfig) (graph.Head, error) {
	if p, ok := presetOf(c.Kind); ok {
		loss, err := p.loss(l)
		if err != nil {
			return graph.Head{}, err
		}
		return c.presetHead(loss)
	}
	return c.layersHead(l)
}

// loss returns the preset's loss under l: its default for auto.
func (p preset) loss(l LossConfig) (Loss, error) {
	if l.Kind == "" || l.Kind == "auto" {
		return p.losses[0], nil
	}
	names := []string{"auto"}
	for _, fits := range p.losses {
		if fits.String() == l.Kind {
			return fits, nil
		}
		names = append(names, fits.String())
	}
	return 0, fmt.Errorf("loss.kind is %s, want %s with model.kind %s", l.Kind, either(names), p.name)
}

// either joins names with commas and "or".
func either(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func (c Config) presetHead(loss Loss) (graph.Head, error) {
	switch {
	case loss == Softmax && c.Classes == 0:
		return graph.Head{}, errors.New("model.classes is 0, want 2 or more")
	case loss != Softmax && c.Classes != 0:
		return graph.Head{}, fmt.Errorf("model.classes is %d, want none with loss.kind %v", c.Classes, loss)
	}
	return loss.head(c.Classes), nil
}

// head returns the head of the loss.
func (l Loss) head(classes int) graph.Head {
	switch l {
	case Softmax:
		return graph.Head{Kind: graph.HeadClasses, Classes: classes}
	case Sigmoid:
		return graph.Head{Kind: graph.HeadBinary, Classes: 2}
	}
	return graph.Head{Kind: graph.HeadRegression}
}

// LossOf returns the loss of a head.
func LossOf(h graph.Head) Loss {
	switch h.Kind {
	case graph.HeadClasses:
		return Softmax
	case graph.HeadBinary:
		return Sigmoid
	}
	return Squared
}

// layersHead returns the head of model.layers: by loss.kind, or softmax if the last
// layer has several outputs. An error belongs to the last item.
func (c Config) layersHead(l LossConfig) (graph.Head, error) {
	outputs, isAuto := c.outputs(), l.Kind == "" || l.Kind == "auto"
	bad := func(format string, args ...any) (graph.Head, error) {
		last := len(c.Layers) - 1
		p, err := c.Layers[last].plan()
		if err != nil {
			return graph.Head{}, err
		}
		return graph.Head{}, c.layerError(last, string(p.op), fmt.Errorf(format, args...))
	}
	if outputs == unknown { // the records determine it, and Builder.Graph compares it
		if outputs = c.Classes; outputs == 0 && l.Kind == "softmax" {
			return bad("has as many outputs as the records make: want a dense layer at the end, or model.classes")
		}
		outputs = max(outputs, 1)
	}
	switch {
	case l.Kind == "softmax", isAuto && outputs > 1:
		if outputs < 2 {
			return bad("has %d outputs, want one for each class with loss.kind softmax", outputs)
		}
		if c.Classes != 0 && c.Classes != outputs {
			return graph.Head{}, fmt.Errorf("model.classes is %d, want %d, the outputs of the last layer", c.Classes, outputs)
		}
		return Softmax.head(outputs), nil
	case isAuto:
		return graph.Head{}, errors.New("loss.kind is auto, want squared or sigmoid where the last layer has one output")
	case outputs != 1:
		return bad("has %d outputs, want 1 with loss.kind %s", outputs, l.Kind)
	}
	return losses[slices.Index(lossNames, l.Kind)].head(0), nil
}

// unknown is the size of an axis that depends on the records.
const unknown = -1

// outputs returns the size of the last axis of the last item, or unknown.
func (c Config) outputs() int {
	sizes := make([]int, len(c.Layers))
	sizeOf := func(item int) int {
		if item < 0 { // the input
			return unknown
		}
		return sizes[item]
	}
	for i, in := range c.sources() {
		switch l := &c.Layers[i]; {
		case l.Dense != nil:
			sizes[i] = l.Dense.Units
		case l.Conv2D != nil:
			sizes[i] = l.Conv2D.Filters
		case l.Flatten != nil, l.Embedding != nil:
			sizes[i] = unknown
		case l.Sparse != nil:
			sizes[i] = orOne(l.Sparse.Units)
		case l.FM != nil:
			sizes[i] = orOne(l.FM.Units)
		case l.Concat != nil:
			sizes[i] = sumOf(in, sizeOf)
		default:
			sizes[i] = sizeOf(in[0])
		}
	}
	return sizes[len(sizes)-1]
}

// sumOf returns the sum of the sizes of items, unknown if a size is unknown or the sum
// overflows.
func sumOf(items []int, sizeOf func(item int) int) int {
	total := 0
	for _, item := range items {
		n := sizeOf(item)
		if n < 0 || n > math.MaxInt-total {
			return unknown
		}
		total += n
	}
	return total
}
