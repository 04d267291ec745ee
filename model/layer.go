package model

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/model/graph"
)

// Layer is an item of model.layers: one kind, with a name and inputs. Kinds and options
// have Keras's names.
type Layer struct {
	// Name is the layer's name and the first part of its variables' names. The default
	// is its kind and, from the second layer of a kind on, a number: conv2d, conv2d_2.
	Name string `yaml:"name"`

	// In names the layers that this layer reads. input is the model's input: the ids for
	// sparse and embedding, otherwise the dense features. The default is the item
	// before; for the first item, sparse and embedding it is input.
	In []string `yaml:"in"`

	Dense         *DenseLayer     `yaml:"dense"`           // x·kernel + bias
	Conv2D        *Conv2DLayer    `yaml:"conv2d"`          // convolution of an image
	MaxPool2D     *PoolLayer      `yaml:"max_pool2d"`      // largest element of each window
	AvgPool2D     *PoolLayer      `yaml:"avg_pool2d"`      // mean of each window
	GlobalAvgPool *PlainLayer     `yaml:"global_avg_pool"` // mean of each channel
	Flatten       *PlainLayer     `yaml:"flatten"`         // an image as one row
	ReLU          *PlainLayer     `yaml:"relu"`            // max(x, 0)
	LeakyReLU     *LeakyReLULayer `yaml:"leaky_relu"`      // x, or a share of x below 0
	Tanh          *PlainLayer     `yaml:"tanh"`            // hyperbolic tangent
	Sigmoid       *PlainLayer     `yaml:"sigmoid"`         // 1/(1+exp(−x))
	GELU          *PlainLayer     `yaml:"gelu"`            // x·Φ(x), with the error function
	Dropout       *DropoutLayer   `yaml:"dropout"`         // in training, zeros at random
	LayerNorm     *LayerNormLayer `yaml:"layer_norm"`      // normalization over the last axis
	Sparse        *SparseLayer    `yaml:"sparse"`          // Σ weight·value of an example's ids + bias
	Embedding     *EmbeddingLayer `yaml:"embedding"`       // a row for each id, pooled by field
	FM            *FMLayer        `yaml:"fm"`              // second order over the ids of an embedding
	Cross         *CrossLayer     `yaml:"cross"`           // x0·(x·kernel + bias) + x; in: [x0, x]
	Add           *PlainLayer     `yaml:"add"`             // sum of two inputs or more
	Concat        *PlainLayer     `yaml:"concat"`          // inputs one after the other, along the last axis
}

// PlainLayer is a kind without options.
type PlainLayer struct{}

// DenseLayer has the options of dense.
type DenseLayer struct {
	Units      int    `yaml:"units"`      // number of outputs
	Activation string `yaml:"activation"` // relu, leaky_relu, tanh, sigmoid or gelu after it; default none
	UseBias    *bool  `yaml:"use_bias"`   // default true
	Init       string `yaml:"init"`       // of the kernel: glorot (default), he or zeros
}

// Conv2DLayer has the options of conv2d.
type Conv2DLayer struct {
	Filters    int    `yaml:"filters"`    // number of output channels
	Kernel     []int  `yaml:"kernel"`     // height and width of the kernel, or one number for both
	Strides    []int  `yaml:"strides"`    // default 1
	Padding    string `yaml:"padding"`    // valid (default) or same
	Activation string `yaml:"activation"` // as of dense
	UseBias    *bool  `yaml:"use_bias"`   // default true
	Init       string `yaml:"init"`       // as of dense
}

// PoolLayer has the options of max_pool2d and avg_pool2d.
type PoolLayer struct {
	PoolSize []int  `yaml:"pool_size"` // height and width of the window, or one number for both; default 2
	Strides  []int  `yaml:"strides"`   // default pool_size
	Padding  string `yaml:"padding"`   // valid (default) or same
}

// LeakyReLULayer has the options of leaky_relu.
type LeakyReLULayer struct {
	NegativeSlope *float64 `yaml:"negative_slope"` // default 0.3
}

// DropoutLayer has the options of dropout.
type DropoutLayer struct {
	Rate float64 `yaml:"rate"` // share of the inputs that become 0
}

// LayerNormLayer has the options of layer_norm.
type LayerNormLayer struct {
	Epsilon *float64 `yaml:"epsilon"` // added to the variance; default 0.001
}

// SparseLayer has the options of sparse.
type SparseLayer struct {
	Units int `yaml:"units"` // number of outputs, default 1
}

// EmbeddingLayer has the options of embedding.
type EmbeddingLayer struct {
	Size    int    `yaml:"size"`    // numbers per id
	Pooling string `yaml:"pooling"` // of the ids of a field: sum (default), mean or sqrtn
}

// FMLayer has the options of fm.
type FMLayer struct {
	Units int `yaml:"units"` // number of outputs, default 1; each has its own part of the embedding
}

// CrossLayer has the options of cross.
type CrossLayer struct {
	Init string `yaml:"init"` // of the kernel: glorot (default), he or zeros
}

// Keras's defaults.
const (
	defaultSlope    = 0.3 // of the layer
	activationSlope = 0.2 // of leaky_relu as an activation
	defaultEpsilon  = 1e-3
)

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

// plan checks the options of the item's kind that do not depend on shapes.
func (l *Layer) plan() (plan, error) {
	var kinds []string
	var p plan
	var err error
	take := func(op graph.Op, is bool, attr func() error) {
		if !is {
			return
		}
		kinds = append(kinds, string(op))
		p.op = op
		if attr != nil {
			err = attr()
		}
	}
	take(graph.OpDense, l.Dense != nil, func() error { return p.dense(l.Dense) })
	take(graph.OpConv2D, l.Conv2D != nil, func() error { return p.conv(l.Conv2D) })
	take(graph.OpMaxPool2D, l.MaxPool2D != nil, func() error { return p.pool(l.MaxPool2D) })
	take(graph.OpAvgPool2D, l.AvgPool2D != nil, func() error { return p.pool(l.AvgPool2D) })
	take(graph.OpGlobalAvgPool, l.GlobalAvgPool != nil, nil)
	take(graph.OpFlatten, l.Flatten != nil, nil)
	take(graph.OpReLU, l.ReLU != nil, nil)
	take(graph.OpLeakyReLU, l.LeakyReLU != nil, func() error {
		p.attr.Alpha = float32(orDefault(l.LeakyReLU.NegativeSlope, defaultSlope))
		return nil
	})
	take(graph.OpTanh, l.Tanh != nil, nil)
	take(graph.OpSigmoid, l.Sigmoid != nil, nil)
	take(graph.OpGELU, l.GELU != nil, nil)
	take(graph.OpDropout, l.Dropout != nil, func() error {
		p.attr.Rate = float32(l.Dropout.Rate)
		return nil
	})
	take(graph.OpLayerNorm, l.LayerNorm != nil, func() error {
		p.attr.Epsilon = float32(orDefault(l.LayerNorm.Epsilon, defaultEpsilon))
		return nil
	})
	take(graph.OpSparse, l.Sparse != nil, func() error { p.attr.Units = orOne(l.Sparse.Units); return nil })
	take(graph.OpEmbedding, l.Embedding != nil, func() error { return p.embedding(l.Embedding) })
	take(graph.OpFM, l.FM != nil, func() error { p.attr.Units = orOne(l.FM.Units); return nil })
	take(graph.OpCross, l.Cross != nil, func() error {
		var err error
		if p.attr.Init, err = parseInit(l.Cross.Init, graph.Glorot); err != nil {
			return fmt.Errorf("init %w", err)
		}
		return nil
	})
	take(graph.OpAdd, l.Add != nil, nil)
	take(graph.OpConcat, l.Concat != nil, nil)
	switch len(kinds) {
	case 0:
		return plan{}, fmt.Errorf("has no kind, want one of %s", strings.Join(LayerKinds(), ", "))
	case 1:
		return p, err
	}
	return plan{}, fmt.Errorf("has the kinds %s, want one", strings.Join(kinds, " and "))
}

// readsIDs reports whether the layer reads ids.
func (l *Layer) readsIDs() bool { return l.Sparse != nil || l.Embedding != nil }

// LayerKinds returns the kinds of layers, in the order of the fields of Layer.
func LayerKinds() []string {
	return []string{
		"dense", "conv2d", "max_pool2d", "avg_pool2d", "global_avg_pool", "flatten", "relu", "leaky_relu", "tanh", "sigmoid",
		"gelu", "dropout", "layer_norm", "sparse", "embedding", "fm", "cross", "add", "concat",
	}
}

func orDefault(v *float64, d float64) float64 {
	if v == nil {
		return d
	}
	return *v
}

// orOne returns units, or 1 if units is 0.
func orOne(units int) int {
	if units == 0 {
		return 1
	}
	return units
}

func (p *plan) embedding(l *EmbeddingLayer) error {
	p.attr.Size = l.Size
	var err error
	if p.attr.Pooling, err = parsePooling(l.Pooling); err != nil {
		return fmt.Errorf("pooling %w", err)
	}
	return nil
}

// parsePooling parses the name of a pooling; "" is sum.
func parsePooling(name string) (graph.Pooling, error) {
	if name == "" {
		return graph.PoolSum, nil
	}
	if p := graph.Pooling(name); slices.Contains(graph.Poolings, p) {
		return p, nil
	}
	return "", fmt.Errorf("is %q, want one of sum, mean, sqrtn", name)
}

func (p *plan) dense(l *DenseLayer) error {
	if p.attr.Units = l.Units; l.Units < 1 {
		return fmt.Errorf("units is %d, want 1 or more", l.Units)
	}
	return p.weights(l.UseBias, l.Init, l.Activation)
}

func (p *plan) conv(l *Conv2DLayer) error {
	if p.attr.Units = l.Filters; l.Filters < 1 {
		return fmt.Errorf("filters is %d, want 1 or more", l.Filters)
	}
	if len(l.Kernel) == 0 {
		return fmt.Errorf("kernel is empty, want its height and width, or one number for both")
	}
	if err := p.window("kernel", l.Kernel, l.Strides, l.Padding, []int{1}); err != nil {
		return err
	}
	return p.weights(l.UseBias, l.Init, l.Activation)
}

func (p *plan) pool(l *PoolLayer) error {
	size := l.PoolSize
	if len(size) == 0 {
		size = []int{2}
	}
	return p.window("pool_size", size, l.Strides, l.Padding, size)
}

// weights sets the options that dense and conv2d share.
func (p *plan) weights(bias *bool, init, activation string) error {
	p.attr.NoBias = bias != nil && !*bias
	var err error
	if p.attr.Init, err = parseInit(init, graph.Glorot); err != nil {
		return fmt.Errorf("init %w", err)
	}
	if p.activation, err = parseActivation(activation); err != nil {
		return fmt.Errorf("activation %w", err)
	}
	return nil
}

// window sets window, strides and padding.
func (p *plan) window(name string, size, strides []int, padding string, otherwise []int) error {
	var err error
	if p.attr.Window, err = pair(size); err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	if len(strides) == 0 {
		strides = otherwise
	}
	if p.attr.Stride, err = pair(strides); err != nil {
		return fmt.Errorf("strides %w", err)
	}
	switch padding {
	case "", "valid":
	case "same":
		p.attr.Same = true
	default:
		return fmt.Errorf("padding is %q, want valid or same", padding)
	}
	return nil
}

// pair returns two numbers from a list of one or two.
func pair(v []int) ([2]int, error) {
	if len(v) == 1 {
		v = []int{v[0], v[0]}
	}
	if len(v) != 2 || v[0] < 1 || v[1] < 1 {
		return [2]int{}, fmt.Errorf("is %v, want one number or two, from 1", v)
	}
	return [2]int(v), nil
}

// parseInit parses the name of an initializer; "" is otherwise.
func parseInit(name string, otherwise graph.Initializer) (graph.Initializer, error) {
	switch name {
	case "":
		return otherwise, nil
	case "glorot":
		return graph.Glorot, nil
	case "he":
		return graph.He, nil
	case "zeros":
		return graph.Zeros, nil
	}
	return 0, fmt.Errorf("is %q, want one of glorot, he, zeros", name)
}

// parseActivation parses the name of an activation; "" is none.
func parseActivation(name string) (graph.Op, error) {
	if name == "" || name == "linear" {
		return "", nil
	}
	if op := graph.Op(name); slices.Contains(graph.Activations, op) {
		return op, nil
	}
	names := make([]string, len(graph.Activations))
	for i, op := range graph.Activations {
		names[i] = string(op)
	}
	return "", fmt.Errorf("is %q, want one of %s", name, strings.Join(names, ", "))
}
