package model

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"ringtrain/model/graph"
	"ringtrain/model/keys"
)

// Layer is an item of model.layers: one kind, with a name and inputs. Kinds and options
// have Keras's names.
type Layer struct {
	Name          string          `yaml:"name" doc:"Name of the layer, and the first part of its variables' names. Default: its kind, and a number from the second layer of a kind on, as in conv2d_2."`
	In            []string        `yaml:"in" doc:"Layers that this layer reads. input is the record: its ids for sparse and embedding, its numbers for the others. Default: the item before; of the first item, and of sparse and embedding, input."`
	Dense         *DenseLayer     `yaml:"dense" doc:"x·kernel + bias."`
	Conv2D        *Conv2DLayer    `yaml:"conv2d" doc:"Convolution of an image."`
	MaxPool2D     *PoolLayer      `yaml:"max_pool2d" doc:"Largest element of each window."`
	AvgPool2D     *PoolLayer      `yaml:"avg_pool2d" doc:"Mean of each window."`
	GlobalAvgPool *PlainLayer     `yaml:"global_avg_pool" doc:"Mean of each channel."`
	Flatten       *PlainLayer     `yaml:"flatten" doc:"An image as one row."`
	ReLU          *PlainLayer     `yaml:"relu" doc:"max(x, 0)."`
	LeakyReLU     *LeakyReLULayer `yaml:"leaky_relu" doc:"x, or a share of x where it is below 0."`
	Tanh          *PlainLayer     `yaml:"tanh" doc:"Hyperbolic tangent."`
	Sigmoid       *PlainLayer     `yaml:"sigmoid" doc:"1/(1+exp(−x))."`
	GELU          *PlainLayer     `yaml:"gelu" doc:"x·Φ(x), with the error function."`
	Dropout       *DropoutLayer   `yaml:"dropout" doc:"In training, zeros at random."`
	LayerNorm     *LayerNormLayer `yaml:"layer_norm" doc:"Normalization over the last axis."`
	Sparse        *SparseLayer    `yaml:"sparse" doc:"Σ weight·value over the ids of an example, plus a bias."`
	Embedding     *EmbeddingLayer `yaml:"embedding" doc:"A row for each id, joined by field."`
	FM            *FMLayer        `yaml:"fm" doc:"Second order of the ids of the embedding that it reads."`
	Cross         *CrossLayer     `yaml:"cross" doc:"x0·(x·kernel + bias) + x, with ‘in: [x0, x]’."`
	Add           *PlainLayer     `yaml:"add" doc:"Sum of two layers or more, which ‘in’ names."`
	Concat        *PlainLayer     `yaml:"concat" doc:"Layers that ‘in’ names, one after the other, along the last axis."`
}

// PlainLayer is a kind without options.
type PlainLayer struct{}

// DenseLayer has the options of dense.
type DenseLayer struct {
	Units      int               `yaml:"units" need:"yes" takes:"1 or more" doc:"Number of outputs."`
	Activation Activation        `yaml:"activation" doc:"Activation behind it. Default: none."`
	UseBias    *bool             `yaml:"use_bias" absent:"true" doc:"It has a bias."`
	Init       graph.Initializer `yaml:"init" absent:"glorot" doc:"How the kernel begins."`
}

// Conv2DLayer has the options of conv2d.
type Conv2DLayer struct {
	Filters    int               `yaml:"filters" need:"yes" takes:"1 or more" doc:"Number of output channels."`
	Kernel     []int             `yaml:"kernel" takes:"1 or more" doc:"Height and width of the kernel, or one number for both."`
	Strides    []int             `yaml:"strides" absent:"1" takes:"1 or more" doc:"Steps of the kernel down and across, or one number for both."`
	Padding    string            `yaml:"padding" absent:"valid" takes:"valid, same" doc:"same: zeros around the image, so that the output has its size over the strides."`
	Activation Activation        `yaml:"activation" doc:"Activation behind it. Default: none."`
	UseBias    *bool             `yaml:"use_bias" absent:"true" doc:"It has a bias."`
	Init       graph.Initializer `yaml:"init" absent:"glorot" doc:"How the kernel begins."`
}

// PoolLayer has the options of max_pool2d and avg_pool2d.
type PoolLayer struct {
	PoolSize []int  `yaml:"pool_size" absent:"2" takes:"1 or more" doc:"Height and width of the window, or one number for both."`
	Strides  []int  `yaml:"strides" takes:"1 or more" doc:"Steps of the window down and across, or one number for both. Default: those of pool_size."`
	Padding  string `yaml:"padding" absent:"valid" takes:"valid, same" doc:"same: windows may reach over the border, so that the output has the image's size over the strides."`
}

// LeakyReLULayer has the options of leaky_relu.
type LeakyReLULayer struct {
	NegativeSlope *float64 `yaml:"negative_slope" absent:"0.3" takes:"0 or more" doc:"The share. Of leaky_relu as an activation it is 0.2."`
}

// DropoutLayer has the options of dropout.
type DropoutLayer struct {
	Rate float64 `yaml:"rate" takes:"0 or more and below 1" doc:"Share of the inputs that become 0."`
}

// LayerNormLayer has the options of layer_norm.
type LayerNormLayer struct {
	Epsilon *float64 `yaml:"epsilon" absent:"0.001" takes:"above 0" doc:"Added to the variance."`
}

// SparseLayer has the options of sparse.
type SparseLayer struct {
	Units int    `yaml:"units" absent:"1" takes:"1 or more" doc:"Number of outputs."`
	Init  string `yaml:"init" absent:"zeros" takes:"zeros, small" doc:"How the weights begin. small: at random within ±0.05, as a layer wants that others follow."`
}

// EmbeddingLayer has the options of embedding.
type EmbeddingLayer struct {
	Size    int           `yaml:"size" need:"yes" takes:"1 or more" doc:"Numbers of an id."`
	Pooling graph.Pooling `yaml:"pooling" absent:"sum" doc:"How the rows of one field are joined, as TensorFlow's ‘embedding_lookup_sparse’ does."`
}

// FMLayer has the options of fm.
type FMLayer struct {
	Units int `yaml:"units" absent:"1" takes:"1 or more" doc:"Number of outputs. Each has its own part of the embedding."`
}

// CrossLayer has the options of cross.
type CrossLayer struct {
	Init graph.Initializer `yaml:"init" absent:"glorot" doc:"How the kernel begins."`
}

// activationSlope is Keras's default slope of leaky_relu as an activation. That of the layer is another.
const activationSlope = 0.2

// LayerError is an error in an item of model.layers.
type LayerError struct {
	Item int    // its index
	Name string // its name, or its index if it has no valid name
	Kind string // "conv2d"; "" if the item does not have exactly one kind
	Err  error
}

// Error returns the item and the error.
func (e *LayerError) Error() string {
	if e.Kind == "" {
		return fmt.Sprintf("model.layers.%s %v", e.Name, e.Err)
	}
	return fmt.Sprintf("model.layers.%s (%s) %v", e.Name, e.Kind, e.Err)
}

// Unwrap returns Err.
func (e *LayerError) Unwrap() error { return e.Err }

// plan is an item before shapes are known: the node that it becomes, and the activation
// after it.
type plan struct {
	op         graph.Op
	attr       graph.Attrs
	activation graph.Op // "" for none
}

// A planner is a kind with options: it makes the attributes of the node.
type planner interface{ plan(p *plan) error }

// plan checks the options of the item's kind that do not depend on shapes.
func (l *Layer) plan() (plan, error) {
	var kinds []string
	for _, f := range keys.KindsOf(reflect.ValueOf(l).Elem()) {
		kinds = append(kinds, f.Name)
	}
	if len(kinds) == 0 {
		return plan{}, fmt.Errorf("has no kind, want one of %s", strings.Join(LayerKinds(), ", "))
	}
	if len(kinds) > 1 {
		return plan{}, fmt.Errorf("has the kinds %s, want one", strings.Join(kinds, " and "))
	}
	f, _ := keys.Find(l, kinds[0])
	p, options := plan{op: graph.Op(f.Name)}, f.Value.Interface()
	if errs := keys.Check("", options); errs != nil {
		return p, errs[0]
	}
	if o, ok := options.(planner); ok {
		return p, o.plan(&p)
	}
	return p, nil
}

// LayerKinds returns the kinds of layers, in the order of the fields of Layer.
func LayerKinds() []string { return keys.Kinds(reflect.TypeFor[Layer]()) }

// Activation is the name of a layer that another one has behind it.
type Activation string

// Takes returns the names of all activations. linear is none.
func (Activation) Takes() string {
	return "linear, " + strings.Join(graph.Activations(), ", ")
}

func (l *DenseLayer) plan(p *plan) error {
	o := keys.Fill(*l)
	p.attr.Units, p.attr.NoBias, p.attr.Init = o.Units, !*o.UseBias, o.Init
	p.activation = o.Activation.op()
	return nil
}

func (l *Conv2DLayer) plan(p *plan) error {
	o := keys.Fill(*l)
	p.attr.Units, p.attr.NoBias, p.attr.Init = o.Filters, !*o.UseBias, o.Init
	p.activation = o.Activation.op()
	if len(o.Kernel) == 0 {
		return errors.New("kernel is empty, want its height and width, or one number for both")
	}
	return p.window("kernel", o.Kernel, o.Strides, o.Padding)
}

func (l *PoolLayer) plan(p *plan) error {
	o := keys.Fill(*l)
	if len(o.Strides) == 0 {
		o.Strides = o.PoolSize
	}
	return p.window("pool_size", o.PoolSize, o.Strides, o.Padding)
}

func (l *LeakyReLULayer) plan(p *plan) error {
	p.attr.Alpha = float32(*keys.Fill(*l).NegativeSlope)
	return nil
}

func (l *DropoutLayer) plan(p *plan) error {
	p.attr.Rate = float32(l.Rate)
	return nil
}

func (l *LayerNormLayer) plan(p *plan) error {
	p.attr.Epsilon = float32(*keys.Fill(*l).Epsilon)
	return nil
}

func (l *SparseLayer) plan(p *plan) error {
	o := keys.Fill(*l)
	p.attr.Units, p.attr.Init = o.Units, graph.Initializer(o.Init)
	return nil
}

func (l *EmbeddingLayer) plan(p *plan) error {
	p.attr.Size, p.attr.Pooling = l.Size, keys.Fill(*l).Pooling
	return nil
}

func (l *FMLayer) plan(p *plan) error {
	p.attr.Units = keys.Fill(*l).Units
	return nil
}

func (l *CrossLayer) plan(p *plan) error {
	p.attr.Init = keys.Fill(*l).Init
	return nil
}

// op returns the op of the activation, "" for none.
func (a Activation) op() graph.Op {
	if a == "linear" {
		return ""
	}
	return graph.Op(a)
}

// window sets window, strides and padding.
func (p *plan) window(name string, size, strides []int, padding string) error {
	var err error
	if p.attr.Window, err = pair(size); err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	if p.attr.Stride, err = pair(strides); err != nil {
		return fmt.Errorf("strides %w", err)
	}
	p.attr.Same = padding == "same"
	return nil
}

// pair returns two numbers from a list of one or two.
func pair(v []int) ([2]int, error) {
	switch len(v) {
	case 1:
		return [2]int{v[0], v[0]}, nil
	case 2:
		return [2]int(v), nil
	}
	return [2]int{}, fmt.Errorf("is %v, want one number or two, from 1", v)
}
