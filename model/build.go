package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// maxParameters bounds a model at 16 GiB of float32 values.
const maxParameters = 1 << 32

// inputName is what the layers call the model's input.
const inputName = "input"

// Graph returns the model for records of the given shape: the columns of dense features,
// the height, width and channels of an image, or one more than the largest id. The errors
// are usage errors; those of an item of model.layers are [*LayerError].
func (c Config) Graph(shape graph.Shape, l LossConfig) (*graph.Graph, error) {
	if err := c.Check(l); err != nil {
		return nil, err
	}
	if shape.Len() == 0 || len(shape) == 0 {
		return nil, exitcode.With(exitcode.Usage, errors.New("model.features is 0, want 1 or more"))
	}
	g, err := c.build(shape, c.Head(l))
	if err == nil && g.Parameters() > maxParameters {
		err = fmt.Errorf("model has more than %d parameters: make model.features, model.hidden, model.classes or the layers smaller", maxParameters)
	}
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return g, nil
}

func (c Config) build(shape graph.Shape, h graph.Head) (*graph.Graph, error) {
	var b graph.Builder
	p, isPreset := presetOf(c.Kind)
	if p.sparse {
		b.Input(graph.Port{Name: inputName, Kind: graph.Sparse, Shape: shape})
		if _, err := b.Add(graph.OpSparse, "linear", graph.Attrs{}, inputName); err != nil {
			return nil, err
		}
		return b.Graph(h)
	}
	if p.flat {
		shape = graph.Shape{shape.Len()}
	}
	b.Input(graph.Port{Name: inputName, Kind: graph.Dense, Shape: shape})
	if isPreset {
		c.Layers = c.presetLayers(p, h)
	}
	if err := c.add(&b); err != nil {
		return nil, err
	}
	return b.Graph(h)
}

// PresetLayers spells the preset of c as model.layers, and returns false for one that no
// layers of a job file make.
func (c Config) PresetLayers(l LossConfig) ([]Layer, bool) {
	p, ok := presetOf(c.Kind)
	if !ok || p.layers == nil {
		return nil, false
	}
	return c.presetLayers(p, c.Head(l)), true
}

// presetLayers ends with a layer that is called after what its outputs are.
func (c Config) presetLayers(p preset, h graph.Head) []Layer {
	name := "linear"
	if h.Kind == graph.HeadClasses {
		name = "softmax"
	}
	layers := p.layers(&c, &DenseLayer{Units: h.Outputs()}, name)
	if c.Init != "" {
		for i := range layers {
			if d := layers[i].Dense; d != nil {
				d.Init = c.Init
			}
			if d := layers[i].Conv2D; d != nil {
				d.Init = c.Init
			}
		}
	}
	return layers
}

// add adds the items of model.layers. An activation becomes a node of its own, NAME/relu,
// which is what the next item and those that name the item read.
func (c Config) add(b *graph.Builder) error {
	names, outs := c.itemNames(), make([]string, len(c.Layers))
	for i := range c.Layers {
		l := &c.Layers[i]
		p, err := l.plan()
		if err != nil {
			return c.fault(i, "", err)
		}
		in := []string{}
		for _, s := range c.sources(i) {
			if s < 0 {
				in = append(in, inputName)
			} else {
				in = append(in, outs[s])
			}
		}
		if outs[i], err = b.Add(p.op, names[i], p.attr, in...); err != nil {
			return c.fault(i, string(p.op), err)
		}
		if p.activation != "" {
			a := graph.Attrs{}
			if p.activation == graph.OpLeakyReLU {
				a.Alpha = activationSlope
			}
			if outs[i], err = b.Add(p.activation, names[i]+"/"+string(p.activation), a, outs[i]); err != nil {
				return c.fault(i, string(p.op), err)
			}
		}
	}
	return nil
}

// fault is err as the fault of item i.
func (c Config) fault(i int, kind string, err error) error {
	name := c.Layers[i].Name
	if name == "" {
		name = strconv.Itoa(i)
	}
	return &LayerError{Item: i, Name: name, Kind: kind, Err: err}
}

// itemNames are the names of the items, with the default where one has none.
func (c Config) itemNames() []string {
	names, count := make([]string, len(c.Layers)), map[string]int{}
	for i := range c.Layers {
		names[i] = c.Layers[i].Name
		if names[i] != "" {
			continue
		}
		p, err := c.Layers[i].plan()
		kind := string(p.op)
		if err != nil {
			kind = strconv.Itoa(i)
		}
		if count[kind]++; count[kind] > 1 {
			kind += "_" + strconv.Itoa(count[kind])
		}
		names[i] = kind
	}
	return names
}

// sources are the items that item i reads; -1 is the model's input. Names that are not
// there are left to checkLayers.
func (c Config) sources(i int) []int {
	if len(c.Layers[i].In) == 0 {
		return []int{i - 1}
	}
	names := c.itemNames()[:i]
	var in []int
	for _, name := range c.Layers[i].In {
		in = append(in, slices.Index(names, name)) // -1 where it is the input
	}
	return in
}

// checkLayers returns what is wrong with the items, all but what needs shapes.
func (c Config) checkLayers() []error {
	var errs []error
	names := c.itemNames()
	for i := range c.Layers {
		l := &c.Layers[i]
		p, err := l.plan()
		if err != nil {
			errs = append(errs, c.fault(i, string(p.op), err))
		}
		if !validName(names[i]) {
			errs = append(errs, c.fault(i, string(p.op), fmt.Errorf("name is %q, want letters, digits, _ . - and /, a letter or digit first", names[i])))
		}
		if names[i] == inputName || slices.Contains(names[:i], names[i]) {
			errs = append(errs, c.fault(i, string(p.op), fmt.Errorf("name is %q, which is taken", names[i])))
		}
		for _, in := range l.In {
			if in != inputName && !slices.Contains(names[:i], in) {
				errs = append(errs, c.fault(i, string(p.op), fmt.Errorf("in is %q, want %s or a layer before it", in, inputName)))
			}
		}
	}
	return errs
}

// validName reports whether TensorFlow takes a name for a scope.
func validName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !slices.Contains([]rune("_.-/"), r)) {
			return false
		}
	}
	return s != ""
}
