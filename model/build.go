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

// readsIDs reports whether the model of c reads ids of the records.
func (in Inputs) readsIDs(c *Config) bool {
	if in.IDs > 0 {
		return c.ReadsIDs(HaveIDs)
	}
	return c.ReadsIDs(NoIDs)
}

// GraphOf returns the model for records with the given features. Its errors are usage errors;
// an error in an item of model.layers is a [*LayerError].
func (c Config) GraphOf(in Inputs, l LossConfig) (*graph.Graph, error) {
	if err := c.Check(l); err != nil {
		return nil, err
	}
	if ids := in.readsIDs(&c); ids && in.IDs == 0 || !ids && (in.Dense.Len() == 0 || len(in.Dense) == 0) {
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
	ids := in.readsIDs(&c)
	p, isPreset := presetOf(c.Kind)
	if isPreset {
		c.Layers = c.presetLayers(p, h, ids, len(in.Dense) > 0)
	}
	if p.flat && !ids {
		in.Dense = graph.Shape{in.Dense.Len()}
	}
	ports := c.ports(&b, in, ids)
	if err := c.add(&b, ports); err != nil {
		return nil, err
	}
	return b.Graph(h)
}

// ports has the names of the graph's inputs, "" for an input that the model does not
// read.
type ports struct{ ids, dense string }

// ports adds the inputs that the items read. A single input is named input.
func (c Config) ports(b *graph.Builder, in Inputs, ids bool) ports {
	var p ports
	dense := len(in.Dense) > 0 && (!ids || c.readsDense())
	if ids {
		p.ids = inputName
		if dense {
			p.ids = inputName + "/ids"
		}
		b.Input(graph.Port{Name: p.ids, Kind: graph.Sparse, Shape: graph.Shape{in.IDs}, Fields: max(in.Fields, c.Fields, 1)})
	}
	if dense {
		p.dense = inputName
		if ids {
			p.dense = inputName + "/dense"
		}
		b.Input(graph.Port{Name: p.dense, Kind: graph.Dense, Shape: in.Dense})
	}
	return p
}

// readsDense reports whether an item reads the model's dense features.
func (c Config) readsDense() bool {
	return slices.ContainsFunc(c.items(), func(it item) bool {
		return it.err == nil && !it.op.ReadsIDs() && slices.Contains(it.reads, -1)
	})
}

// PresetLayers returns the preset of c as model.layers, for records without dense
// features besides ids. ok is false if there is no such preset.
func (c Config) PresetLayers(l LossConfig) ([]Layer, bool) {
	p, ok := presetOf(c.Kind)
	if !ok {
		return nil, false
	}
	return c.presetLayers(p, c.Head(l), c.ReadsIDs(MayHaveIDs), false), true
}

// presetLayers returns the layers of a preset. Of dense features they end with a
// layer named after its outputs. Of ids they also read dense columns, if there are
// any.
func (c Config) presetLayers(p preset, h graph.Head, ids, columns bool) []Layer {
	if ids {
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
	outs := make([]string, len(c.Layers))
	for i, it := range c.items() {
		if it.err != nil {
			return c.layerError(i, "", it.err)
		}
		reads := []string{}
		for _, s := range it.reads {
			switch {
			case s >= 0:
				reads = append(reads, outs[s])
			case it.op.ReadsIDs():
				reads = append(reads, in.ids)
			case in.dense == "":
				return c.layerError(i, string(it.op), fmt.Errorf("reads %s, but the records have no dense features besides ids", inputName))
			default:
				reads = append(reads, in.dense)
			}
		}
		var err error
		if outs[i], err = b.Add(it.op, it.name, it.attr, reads...); err != nil {
			return c.layerError(i, string(it.op), err)
		}
		if it.activation != "" {
			a := graph.Attrs{}
			if it.activation == graph.OpLeakyReLU {
				a.Alpha = activationSlope
			}
			if outs[i], err = b.Add(it.activation, it.name+"/"+string(it.activation), a, outs[i]); err != nil {
				return c.layerError(i, string(it.op), err)
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

// An item is an item of model.layers and its place among the others.
type item struct {
	plan
	err   error  // of its kind or options
	name  string // its own or its default name
	reads []int  // the items that it reads; -1 is the model's input
}

// items returns the items of model.layers. An unknown name is taken for the model's input;
// checkLayers reports it.
func (c Config) items() []item {
	all, count, before := make([]item, len(c.Layers)), map[string]int{}, map[string]int{}
	for i := range all {
		l, it := &c.Layers[i], &all[i]
		it.plan, it.err = l.plan()
		it.name = l.Name
		if it.name == "" {
			kind := string(it.op)
			if it.err != nil {
				kind = strconv.Itoa(i)
			}
			it.name = kind
			if count[kind]++; count[kind] > 1 {
				it.name += "_" + strconv.Itoa(count[kind])
			}
		}
		for _, in := range l.In {
			at, ok := before[in]
			if !ok { // the model's input
				at = -1
			}
			it.reads = append(it.reads, at)
		}
		switch {
		case len(it.reads) > 0:
		case it.op.ReadsIDs():
			it.reads = []int{-1}
		default:
			it.reads = []int{i - 1}
		}
		if _, taken := before[it.name]; !taken {
			before[it.name] = i
		}
	}
	return all
}

// checkLayers returns the errors of the items that do not depend on shapes.
func (c Config) checkLayers() []error {
	var errs []error
	before := map[string]bool{inputName: true}
	for i, it := range c.items() {
		bad := func(err error) { errs = append(errs, c.layerError(i, string(it.op), err)) }
		if it.err != nil {
			bad(it.err)
		}
		if !validName(it.name) {
			bad(fmt.Errorf("name is %q, want letters, digits, _ - and /, a letter or digit first", it.name))
		}
		if before[it.name] {
			bad(fmt.Errorf("name is %q, which is taken", it.name))
		}
		for _, in := range c.Layers[i].In {
			if !before[in] {
				bad(fmt.Errorf("in is %q, want %s or a layer before it", in, inputName))
			}
		}
		before[it.name] = true
	}
	if len(errs) == 0 {
		errs = c.checkRead()
	}
	return errs
}

// checkRead returns an error for each item, except the last, that no other item reads.
func (c Config) checkRead() []error {
	items, read := c.items(), map[int]bool{}
	for _, it := range items {
		for _, i := range it.reads {
			read[i] = true
		}
	}
	var errs []error
	for i, it := range items[:max(len(items)-1, 0)] {
		if it.err == nil && !read[i] {
			errs = append(errs, c.layerError(i, string(it.op), errors.New("is read by no other layer: want it in the in of another, or last")))
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
