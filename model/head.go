package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringtrain/model/graph"
)

// Head returns what the model's outputs mean with a loss, without the records: their
// number and kind. c must have passed Check.
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

// loss returns the preset's loss with l: the default for auto.
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

// either joins names with commas and an "or".
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

// head is what the loss makes of the outputs.
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

// layersHead is the head of model.layers: as loss.kind says, or softmax where the last
// layer has two outputs or more.
func (c Config) layersHead(l LossConfig) (graph.Head, error) {
	outputs, known := c.outputs(len(c.Layers)-1, nil)
	if !known {
		if outputs = c.Classes; outputs == 0 {
			outputs = 1
		}
	}
	switch {
	case l.Kind == "softmax", (l.Kind == "" || l.Kind == "auto") && outputs > 1:
		if outputs < 2 {
			return graph.Head{}, fmt.Errorf("the last layer has %d outputs, want one for each class with loss.kind softmax", outputs)
		}
		if c.Classes != 0 && c.Classes != outputs {
			return graph.Head{}, fmt.Errorf("model.classes is %d, want %d, the outputs of the last layer", c.Classes, outputs)
		}
		return Softmax.head(outputs), nil
	case l.Kind == "" || l.Kind == "auto":
		return graph.Head{}, errors.New("loss.kind is auto, want squared or sigmoid where the last layer has one output")
	case outputs != 1:
		return graph.Head{}, fmt.Errorf("the last layer has %d outputs, want 1 with loss.kind %s", outputs, l.Kind)
	}
	return losses[slices.Index(lossNames, l.Kind)].head(0), nil
}

// outputs returns the size of the last axis of item i, and false where it depends on the
// records.
func (c Config) outputs(i int, seen []int) (int, bool) {
	if i < 0 || slices.Contains(seen, i) {
		return 0, false
	}
	seen = append(seen, i)
	switch l := &c.Layers[i]; {
	case l.Dense != nil:
		return l.Dense.Units, true
	case l.Conv2D != nil:
		return l.Conv2D.Filters, true
	case l.Flatten != nil, l.Embedding != nil:
		return 0, false
	case l.Sparse != nil:
		return orOne(l.Sparse.Units), true
	case l.FM != nil:
		return orOne(l.FM.Units), true
	case l.Concat != nil:
		total := 0
		for _, in := range c.sources(i) {
			n, known := c.outputs(in, seen)
			if !known {
				return 0, false
			}
			total += n
		}
		return total, true
	default:
		return c.outputs(c.sources(i)[0], seen)
	}
}
