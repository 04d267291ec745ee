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

// inputName is the layers' name of the model's input.
const inputName = "input"

// Inputs are the features of an example.
type Inputs struct {
	Dense  graph.Shape // columns, or height, width and channels of an image; nil for none
	IDs    int         // one more than the largest id; 0 without ids
	Fields int         // bags of ids per example; 0 means Config.Fields
}

// Graph returns the model for records of the given shape: the columns of dense features,
// the height, width and channels of an image, or one more than the largest id. Its
// errors are usage errors; an error in an item of model.layers is a [*LayerError].
func (c Config) Graph(shape graph.Shape, l LossConfig) (*graph.Graph, error) {
	if c.Sparse() {
		return c.GraphOf(Inputs{IDs: shape.Len()}, l)
	}
	return c.GraphOf(Inputs{Dense: shape}, l)
}

// GraphOf is Graph for records with ids by field and dense features. A preset of ids
// reads both.
func (c Config) GraphOf(in Inputs, l LossConfig) (*graph.Graph, error) {
	if err := c.Check(l); err != nil {
		return nil, err
	}
	if c.Sparse() && in.IDs == 0 || !c.Sparse() && (in.Dense.Len() == 0 || len(in.Dense) == 0) {
		return nil, exitcode.With(exitcode.Usage, errors.New("model.features is 0, want 1 or more"))
	}
	g, err := c.build(in, c.Head(l))
	if err == nil && g.Parameters() > maxParameters {
		err = fmt.Errorf("model has more than %d parameters: make model.features, model.hidden, model.classes or the layers smaller", maxParameters)
	}
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return g, nil
}

func (c Config) build(in Inputs, h graph.Head) (*graph.Graph, error) {
	var b graph.Builder
	p, isPreset := presetOf(c.Kind)
	if isPreset {
		c.Layers = c.presetLayers(p, h, len(in.Dense) > 0)
	}
	if p.flat {
		in.Dense = graph.Shape{in.Dense.Len()}
	}
	ports := c.ports(&b, in)
	if err := c.add(&b, ports); err != nil {
		return nil, err
	}
	return b.Graph(h)
}

// ports has the names of the graph's inputs, "" for an input that the model does not
// read.
type ports struct{ ids, dense string }

// ports adds the inputs that the items read. A single input is named input.
func (c Config) ports(b *graph.Builder, in Inputs) ports {
	var p ports
	dense := len(in.Dense) > 0 && (!c.Sparse() || c.readsDense())
	if c.Sparse() {
		p.ids = inputName
		if dense {
			p.ids = inputName + "/ids"
		}
		b.Input(graph.Port{Name: p.ids, Kind: graph.Sparse, Shape: graph.Shape{in.IDs}, Fields: max(in.Fields, c.Fields, 1)})
	}
	if dense {
		p.dense = inputName
		if c.Sparse() {
			p.dense = inputName + "/dense"
		}
		b.Input(graph.Port{Name: p.dense, Kind: graph.Dense, Shape: in.Dense})
	}
	return p
}

// readsDense reports whether an item reads the model's dense features.
func (c Config) readsDense() bool {
	for i, in := range c.sources() {
		if p, err := c.Layers[i].plan(); err == nil && !p.op.ReadsIDs() && slices.Contains(in, -1) {
			return true
		}
	}
	return false
}

// PresetLayers returns the preset of c as model.layers, for records without dense
// features besides ids. ok is false if there is no such preset.
func (c Config) PresetLayers(l LossConfig) ([]Layer, bool) {
	p, ok := presetOf(c.Kind)
	if !ok {
		return nil, false
	}
	return c.presetLayers(p, c.Head(l), false), true
}

// presetLayers returns the layers of a preset. A preset of dense features ends with a
// layer named after its outputs. A preset of ids also reads dense columns, if there are
// any.
func (c Config) presetLayers(p preset, h graph.Head, columns bool) []Layer {
	if p.sparse {
		return c.initialized(p.ofIDs(&c, h.Outputs(), columns))
	}
	name := "linear"
	if h.Kind == graph.HeadClasses {
		name = "softmax"
	}
	return c.initialized(p.layers(&c, &DenseLayer{Units: h.Outputs()}, name))
}

// initialized returns layers whose kernels have the initializer model.init.
func (c Config) initialized(layers []Layer) []Layer {
	if c.Init == "" {
		return layers
	}
	for i := range layers {
		if d := layers[i].Dense; d != nil {
			d.Init = c.Init
		}
		if d := layers[i].Conv2D; d != nil {
			d.Init = c.Init
		}
		if d := layers[i].Cross; d != nil {
			d.Init = c.Init
		}
	}
	return layers
}

// add adds the items of model.layers. An activation becomes a node NAME/relu, which the
// next item and the items that name the layer read.
func (c Config) add(b *graph.Builder, in ports) error {
	names, sources, outs := c.itemNames(), c.sources(), make([]string, len(c.Layers))
	for i := range c.Layers {
		l := &c.Layers[i]
		p, err := l.plan()
		if err != nil {
			return c.layerError(i, "", err)
		}
		reads := []string{}
		for _, s := range sources[i] {
			switch {
			case s >= 0:
				reads = append(reads, outs[s])
			case p.op.ReadsIDs():
				reads = append(reads, in.ids)
			case in.dense == "":
				return c.layerError(i, string(p.op), fmt.Errorf("reads %s, but the records have no dense features besides ids", inputName))
			default:
				reads = append(reads, in.dense)
			}
		}
		if outs[i], err = b.Add(p.op, names[i], p.attr, reads...); err != nil {
			return c.layerError(i, string(p.op), err)
		}
		if p.activation != "" {
			a := graph.Attrs{}
			if p.activation == graph.OpLeakyReLU {
				a.Alpha = activationSlope
			}
			if outs[i], err = b.Add(p.activation, names[i]+"/"+string(p.activation), a, outs[i]); err != nil {
				return c.layerError(i, string(p.op), err)
			}
		}
	}
	return nil
}

// layerError returns err as an error of item i.
func (c Config) layerError(i int, kind string, err error) error {
	name := c.Layers[i].Name
	if !validName(name) {
		name = strconv.Itoa(i)
	}
	return &LayerError{Item: i, Name: name, Kind: kind, Err: err}
}

// itemNames returns the names of the items, including default names.
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

// sources returns the items that each item reads; -1 is the model's input. It ignores
// unknown names, which checkLayers reports.
func (c Config) sources() [][]int {
	all, before := make([][]int, len(c.Layers)), map[string]int{}
	for i, name := range c.itemNames() {
		for _, in := range c.Layers[i].In {
			item, ok := before[in]
			if !ok { // the model's input
				item = -1
			}
			all[i] = append(all[i], item)
		}
		switch {
		case len(all[i]) > 0:
		case c.Layers[i].readsIDs():
			all[i] = []int{-1}
		default:
			all[i] = []int{i - 1}
		}
		if _, taken := before[name]; !taken {
			before[name] = i
		}
	}
	return all
}

// checkLayers returns the errors of the items that do not depend on shapes.
func (c Config) checkLayers() []error {
	var errs []error
	before := map[string]bool{inputName: true}
	for i, name := range c.itemNames() {
		l := &c.Layers[i]
		p, err := l.plan()
		bad := func(err error) { errs = append(errs, c.layerError(i, string(p.op), err)) }
		if err != nil {
			bad(err)
		}
		if !validName(name) {
			bad(fmt.Errorf("name is %q, want letters, digits, _ - and /, a letter or digit first", name))
		}
		if before[name] {
			bad(fmt.Errorf("name is %q, which is taken", name))
		}
		for _, in := range l.In {
			if !before[in] {
				bad(fmt.Errorf("in is %q, want %s or a layer before it", in, inputName))
			}
		}
		before[name] = true
	}
	if len(errs) == 0 {
		errs = c.checkRead()
	}
	return errs
}

// checkRead returns an error for each item, except the last, that no other item reads.
func (c Config) checkRead() []error {
	read := make([]bool, len(c.Layers))
	for _, in := range c.sources() {
		for _, item := range in {
			if item >= 0 {
				read[item] = true
			}
		}
	}
	var errs []error
	for i := range len(read) - 1 {
		if p, err := c.Layers[i].plan(); err == nil && !read[i] {
			errs = append(errs, c.layerError(i, string(p.op), errors.New("is read by no other layer: want it in the in of another, or last")))
		}
	}
	return errs
}

// validName reports whether TensorFlow accepts a scope of that name.
func validName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !slices.Contains([]rune("_.-/"), r)) {
			return false
		}
	}
	return s != ""
}
