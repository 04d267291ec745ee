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
		classes, _ := c.Classes.number()
		loss, err := p.loss(l, classes)
		if err != nil {
			return graph.Head{}, err
		}
		if !c.Named() {
			return presetHead(loss, classes)
		}
		loss, classes, err = c.namedLoss(l, p.losses)
		return loss.headFor(classes, c.Names()), err
	}
	return c.layersHead(l)
}

// loss returns the preset's loss under l: for auto its default, or softmax of a number of classes.
func (p preset) loss(l LossConfig, classes int) (lossKind, error) {
	if l.Kind == "" || l.Kind == auto {
		if classes > 0 && slices.ContainsFunc(p.losses, func(of lossKind) bool { return of.name == softmaxLoss.name }) {
			return softmaxLoss, nil
		}
		return p.losses[0], nil
	}
	names := []string{string(auto)}
	for _, fits := range p.losses {
		if fits.name == l.Kind {
			return fits, nil
		}
		names = append(names, string(fits.name))
	}
	return lossKind{}, fmt.Errorf("loss.kind is %s, want one of %s with model.kind %s", l.Kind, strings.Join(names, ", "), p.name)
}

func presetHead(loss lossKind, classes int) (graph.Head, error) {
	switch isClasses := loss.head == graph.HeadClasses; {
	case isClasses && classes == 0:
		return graph.Head{}, errors.New("model.classes is 0, want 2 or more")
	case !isClasses && classes != 0:
		return graph.Head{}, fmt.Errorf("model.classes is %d, want none with loss.kind %v", classes, loss.name)
	}
	return loss.headFor(classes, nil), nil
}

// layersHead returns the head of model.layers: by loss.kind, or softmax if the last
// layer has several outputs. An error belongs to the last item.
func (c Config) layersHead(l LossConfig) (graph.Head, error) {
	outputs, isAuto := c.outputs(), l.Kind == "" || l.Kind == auto
	names := c.Names()
	classes, _ := c.Classes.number()
	if c.Named() {
		fit := losses
		switch {
		case outputs == 1:
			fit = []lossKind{sigmoidLoss}
		case outputs > 1:
			fit = []lossKind{softmaxLoss}
		}
		loss, _, err := c.namedLoss(l, fit)
		if err != nil {
			return graph.Head{}, err
		}
		classes, l.Kind, isAuto = len(names), loss.name, false
	}
	bad := func(format string, args ...any) (graph.Head, error) {
		last := len(c.Layers) - 1
		it := c.items()[last]
		if it.err != nil {
			return graph.Head{}, it.err
		}
		return graph.Head{}, c.layerError(last, string(it.op), fmt.Errorf(format, args...))
	}
	if outputs == unknown { // the records determine it, and Builder.Graph compares it
		if outputs = classes; outputs == 0 && l.Kind == softmaxLoss.name {
			return bad("has as many outputs as the records make: want a dense layer at the end, or model.classes")
		}
		outputs = max(outputs, 1)
	}
	switch {
	case l.Kind == softmaxLoss.name, isAuto && outputs > 1:
		if outputs < 2 {
			return bad("has %d outputs, want one for each class with loss.kind softmax", outputs)
		}
		if classes != 0 && classes != outputs {
			return graph.Head{}, fmt.Errorf("model.classes is %d, want %d, the outputs of the last layer", classes, outputs)
		}
		return softmaxLoss.headFor(outputs, names), nil
	case isAuto:
		return graph.Head{}, errors.New("loss.kind is auto, want squared or sigmoid where the last layer has one output")
	case outputs != 1:
		return bad("has %d outputs, want 1 with loss.kind %s", outputs, l.Kind)
	}
	return losses[slices.IndexFunc(losses, func(of lossKind) bool { return of.name == l.Kind })].headFor(0, names), nil
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
	for i, it := range c.items() {
		switch {
		case it.attr.Units > 0:
			sizes[i] = it.attr.Units
		case it.op == graph.OpFlatten, it.op == graph.OpEmbedding:
			sizes[i] = unknown
		case it.op == graph.OpConcat:
			sizes[i] = sumOf(it.reads, sizeOf)
		default:
			sizes[i] = sizeOf(it.reads[0])
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
