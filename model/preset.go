package model

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/model/keys"
)

// A preset is a kind of model: model.kind. This file alone knows their names.
type preset struct {
	name   Kind
	usage  string
	keys   []string   // of model.*, that not all have
	losses []lossKind // that fit, the default first

	// layers returns the layers of dense features, whose last one has the given outputs; nil: it wants ids.
	layers func(c *Config, last *DenseLayer, name string) []Layer
	flat   bool // the layers take an image as one row

	// ofIDs returns the layers of records with ids; nil: it reads none. columns reports whether the records also have
	// dense columns.
	ofIDs      func(c *Config, outputs int, columns bool) []Layer
	prefersIDs bool // where the job leaves open whether records have ids
}

var (
	ofNumbers = []lossKind{squaredLoss, sigmoidLoss, softmaxLoss}
	ofImages  = []lossKind{softmaxLoss, squaredLoss, sigmoidLoss}
	ofClicks  = []lossKind{sigmoidLoss, squaredLoss, softmaxLoss}

	keysOfDeep = []string{"hidden", "activation", "embedding", "pooling"}
)

// presets has all kinds of models.
var presets = []preset{
	{name: "linear", usage: "y = x·w + Σ w·value + b, over numbers and ids; with loss.kind sigmoid, logistic regression",
		losses: ofNumbers, flat: true, layers: linearLayers, ofIDs: linearOfIDs},
	{name: "softmax", usage: "linear with the loss softmax",
		losses: []lossKind{softmaxLoss}, flat: true, layers: linearLayers, ofIDs: linearOfIDs},
	{name: "mlp", usage: "hidden layers and a linear one, over numbers and ids",
		keys: []string{"hidden", "activation"}, losses: ofImages, flat: true, layers: mlpLayers, ofIDs: mlpOfIDs},
	{name: "lenet", usage: "LeNet-5: two convolutions of 5×5, three dense layers; for small grey images",
		losses: ofImages, layers: lenetLayers},
	{name: "cnn", usage: "convolutions 5×5×32 and 5×5×64, each with pooling, then dropout",
		losses: ofImages, layers: cnnLayers},
	{name: "cnn-small", usage: "residual convolutions 3×3 with layer norm, few parameters",
		losses: ofImages, layers: cnnSmallLayers},
	{name: "sparse-linear", usage: "linear with the loss sigmoid",
		losses: ofClicks, flat: true, layers: linearLayers, ofIDs: linearOfIDs, prefersIDs: true},
	{name: "fm", usage: "factorization machine of order 2 over ids",
		keys: []string{"embedding"}, losses: ofClicks, ofIDs: fmLayers},
	{name: "wide-deep", usage: "linear beside hidden layers over an embedding of the ids",
		keys: keysOfDeep, losses: ofClicks, ofIDs: wideDeepLayers},
	{name: "deepfm", usage: "fm beside hidden layers over the same embedding",
		keys: keysOfDeep, losses: ofClicks, ofIDs: deepFMLayers},
	{name: "dcn", usage: "cross network, version 2, beside hidden layers over an embedding",
		keys: append([]string{"cross"}, keysOfDeep...), losses: ofClicks, ofIDs: dcnLayers},
}

// presetOf returns the preset of a kind. ok is false if there is none.
func presetOf(kind Kind) (preset, bool) {
	if i := slices.IndexFunc(presets, func(p preset) bool { return p.name == kind }); i >= 0 {
		return presets[i], true
	}
	return preset{}, false
}

// Presets returns the names of the kinds of models, each with a line of description.
func Presets() [][2]string {
	var all [][2]string
	for _, p := range presets {
		all = append(all, [2]string{string(p.name), p.usage})
	}
	return all
}

// Kind is the name of a kind of model.
type Kind string

// Takes returns the names of all kinds.
func (Kind) Takes() string {
	var names []string
	for _, p := range presets {
		names = append(names, string(p.name))
	}
	return strings.Join(names, ", ")
}

// Has reports whether a kind has a key of model.* that not all have.
func (k Kind) Has(key string) bool { return slices.Contains(kindsWith(key), string(k)) }

// Fits returns an error unless a kind of model reads records that are images, or that have ids.
func (k Kind) Fits(images, ids bool) error {
	switch p, _ := presetOf(k); {
	case !images && p.ofIDs == nil:
		return fmt.Errorf("model.kind is %s, which reads images, want a kind for other records, such as linear or mlp", k)
	case !ids && p.layers == nil:
		return fmt.Errorf("model.kind is %s, which reads ids, want a kind for numbers alone, such as linear or mlp: no column becomes an id", k)
	}
	return nil
}

// kindsWith returns the kinds that have a key of model.*, none if all have it.
func kindsWith(key string) (kinds []string) {
	for _, p := range presets {
		if slices.Contains(p.keys, key) {
			kinds = append(kinds, string(p.name))
		}
	}
	return kinds
}

func linearLayers(_ *Config, last *DenseLayer, name string) []Layer {
	last.Init = "zeros" // the loss is convex
	return []Layer{{Name: name, Dense: last}}
}

func mlpLayers(c *Config, last *DenseLayer, name string) []Layer {
	return append(c.hiddenLayers("hidden_"), Layer{Name: name, Dense: last})
}

// hiddenLayers returns the layers of model.hidden, named prefix and a number from 1.
func (c *Config) hiddenLayers(prefix string) []Layer {
	o := keys.Fill(*c)
	var layers []Layer
	for i, n := range o.Hidden {
		layers = append(layers, Layer{
			Name: fmt.Sprint(prefix, i+1), Dense: &DenseLayer{Units: n, Activation: o.Activation, Init: "he"},
		})
	}
	return layers
}

// conv returns a convolution of stride 1.
func conv(name string, filters, kernel int, padding string, activation Activation) Layer {
	return Layer{Name: name, Conv2D: &Conv2DLayer{
		Filters: filters, Kernel: []int{kernel}, Padding: padding, Activation: activation, Init: "he",
	}}
}

func pool(name string) Layer { return Layer{Name: name, MaxPool2D: &PoolLayer{}} }

// lenetLayers returns LeNet-5 of LeCun et al., "Gradient-based learning applied to
// document recognition", 1998, in its modern form: relu, max pooling, all channels
// connected.
func lenetLayers(_ *Config, last *DenseLayer, name string) []Layer {
	return []Layer{
		conv("conv_1", 6, 5, "same", "relu"), pool("pool_1"),
		conv("conv_2", 16, 5, "valid", "relu"), pool("pool_2"),
		{Name: "flatten", Flatten: &PlainLayer{}},
		{Name: "hidden_1", Dense: &DenseLayer{Units: 120, Activation: "relu", Init: "he"}},
		{Name: "hidden_2", Dense: &DenseLayer{Units: 84, Activation: "relu", Init: "he"}},
		{Name: name, Dense: last},
	}
}

func cnnLayers(_ *Config, last *DenseLayer, name string) []Layer {
	return []Layer{
		conv("conv_1", 32, 5, "same", "relu"), pool("pool_1"),
		conv("conv_2", 64, 5, "same", "relu"), pool("pool_2"),
		{Name: "flatten", Flatten: &PlainLayer{}},
		{Name: "dropout", Dropout: &DropoutLayer{Rate: 0.4}},
		{Name: name, Dense: last},
	}
}

// cnnSmallLayers returns two residual blocks in the order of He et al., "Identity
// mappings in deep residual networks", 2016: twice norm, relu and convolution, then the
// sum.
func cnnSmallLayers(_ *Config, last *DenseLayer, name string) []Layer {
	norm := func(name string) Layer { return Layer{Name: name, LayerNorm: &LayerNormLayer{}} }
	relu := func(name string) Layer { return Layer{Name: name, ReLU: &PlainLayer{}} }
	block := func(n, from string, filters int) []Layer {
		return []Layer{
			norm("norm_" + n + "a"), relu("relu_" + n + "a"), conv("conv_"+n+"a", filters, 3, "same", ""),
			norm("norm_" + n + "b"), relu("relu_" + n + "b"), conv("conv_"+n+"b", filters, 3, "same", ""),
			{Name: "sum_" + n, In: []string{from, "conv_" + n + "b"}, Add: &PlainLayer{}},
		}
	}
	down := func(name string, filters int) Layer {
		l := conv(name, filters, 3, "same", "")
		l.Conv2D.Strides = []int{2}
		return l
	}
	layers := []Layer{conv("stem", 16, 3, "same", ""), pool("pool")}
	layers = append(layers, block("1", "pool", 16)...)
	layers = append(layers, down("down", 32))
	layers = append(layers, block("2", "down", 32)...)
	return append(layers, norm("norm"), relu("relu"),
		Layer{Name: "mean", GlobalAvgPool: &PlainLayer{}}, Layer{Name: name, Dense: last})
}
