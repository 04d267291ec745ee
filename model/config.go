package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Config describes a model: the keys model.* of a job file.
type Config struct {
	// Kind is a preset: linear, softmax, mlp, lenet, cnn, cnn-small, or of ids
	// sparse-linear, fm, wide-deep, deepfm or dcn. ringtrain jobs describes each.
	Kind string `yaml:"kind"`

	// Layers are the layers of a custom model, instead of a kind.
	Layers []Layer `yaml:"layers"`

	// Classes is the number of classes for the loss softmax, at least 2. With layers it
	// is the size of the last layer.
	Classes int `yaml:"classes"`

	// Features is the number of features of an example: columns, or one more than the
	// largest id. 0 means the number in the training data.
	Features int `yaml:"features"`

	// Fields is the number of bags of ids of an example, of records with numbered fields. 0
	// means one bag of all ids.
	Fields int `yaml:"fields"`

	// Hidden has the sizes of the hidden layers of mlp, wide-deep, deepfm and dcn, first
	// layer first.
	Hidden []int `yaml:"hidden"`

	// Activation follows each hidden layer: relu (default), leaky_relu, tanh, sigmoid or
	// gelu.
	Activation string `yaml:"activation"`

	// Embedding is the number of factors per id in fm, wide-deep, deepfm and dcn,
	// default 8. With loss softmax each class has its own factors in fm and deepfm.
	Embedding int `yaml:"embedding"`

	// Pooling combines the factors of a field's ids in wide-deep, deepfm and dcn: sum
	// (default), mean or sqrtn, as in TensorFlow's embedding_lookup_sparse.
	Pooling string `yaml:"pooling"`

	// Cross is the number of cross layers of dcn, default 2.
	Cross int `yaml:"cross"`

	// Init is the initializer of a preset's kernels: glorot, he or zeros, instead of the
	// preset's own.
	Init string `yaml:"init"`

	// L1 and L2 add l2/2·Σw² + l1·Σ|w| over the weights, without biases, to the training
	// objective.
	L1 float64 `yaml:"l1"`
	L2 float64 `yaml:"l2"`
}

// maxFeatures is the maximum number of rows of a table: an id has 31 bits.
const maxFeatures = 1<<31 - 1

// maxFields is the maximum number of bags of an example.
const maxFields = 1<<16 - 1

// Check returns all errors of c for a loss that do not depend on the records, joined, as
// usage errors.
func (c Config) Check(l LossConfig) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Features < 0 {
		bad("model.features is %d, want 1 or more, or 0 for as many as the data has", c.Features)
	}
	if c.Features > maxFeatures {
		bad("model.features is %d, want %d or less", c.Features, maxFeatures)
	}
	if c.Fields < 0 || c.Fields > maxFields {
		bad("model.fields is %d, want 0 to %d", c.Fields, maxFields)
	}
	if c.Fields > 0 && !c.Sparse() {
		bad("model.fields is %d, want 0: the model reads no ids", c.Fields)
	}
	if _, err := parseInit(c.Init, graph.Glorot); err != nil {
		bad("model.init %w", err)
	}
	for _, p := range []struct {
		key   string
		value float64
	}{{"l1", c.L1}, {"l2", c.L2}} {
		if !(p.value >= 0) || p.value > math.MaxFloat32 {
			bad("model.%s is %v, want 0 or more, within the range of float32", p.key, p.value)
		}
	}
	errs = append(errs, l.check()...)
	p, ok := presetOf(c.Kind)
	switch {
	case c.Kind == "" && len(c.Layers) > 0:
		errs = append(errs, c.checkKeys([]string{"classes"}, "model.layers")...)
		errs = append(errs, c.checkLayers()...)
	case !ok:
		bad("model.kind is %q%s, want one of %s, or model.layers", c.Kind, phrase.DidYouMean(c.Kind, presetNames()), strings.Join(presetNames(), ", "))
	case len(c.Layers) > 0:
		bad("model.layers has %d items, want none with model.kind %s", len(c.Layers), c.Kind)
	default:
		errs = append(errs, c.checkKeys(p.keys, "model.kind "+c.Kind)...)
		errs = append(errs, c.checkHidden(p)...)
	}
	if len(errs) == 0 {
		h, err := c.head(l)
		errs = append(errs, err)
		if err == nil && h.Kind == graph.HeadRegression && l.LabelSmoothing != 0 {
			bad("loss.label_smoothing is %v, want 0: labels are no classes", l.LabelSmoothing)
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// checkKeys returns errors for keys that the model does not have.
func (c Config) checkKeys(takes []string, with string) []error {
	var errs []error
	none := func(key string, set bool, value any) {
		if set && !slices.Contains(takes, key) {
			errs = append(errs, fmt.Errorf("model.%s is %v, want none with %s", key, value, with))
		}
	}
	none("classes", c.Classes != 0, c.Classes)
	none("hidden", len(c.Hidden) > 0, c.Hidden)
	none("activation", c.Activation != "", c.Activation)
	none("embedding", c.Embedding != 0, c.Embedding)
	none("pooling", c.Pooling != "", c.Pooling)
	none("cross", c.Cross != 0, c.Cross)
	none("init", c.Init != "" && len(c.Layers) > 0, c.Init)
	if c.Embedding < 0 {
		errs = append(errs, fmt.Errorf("model.embedding is %d, want 1 or more", c.Embedding))
	}
	if _, err := parsePooling(c.Pooling); err != nil {
		errs = append(errs, fmt.Errorf("model.pooling %w", err))
	}
	if c.Cross < 0 {
		errs = append(errs, fmt.Errorf("model.cross is %d, want 1 or more", c.Cross))
	}
	if c.Classes < 0 || c.Classes == 1 {
		errs = append(errs, fmt.Errorf("model.classes is %d, want 2 or more", c.Classes))
	}
	return errs
}

func (c Config) checkHidden(p preset) []error {
	if !slices.Contains(p.keys, "hidden") {
		return nil
	}
	var errs []error
	if len(c.Hidden) == 0 {
		errs = append(errs, fmt.Errorf("model.hidden is empty, want one size or more with model.kind %s", c.Kind))
	}
	for i, n := range c.Hidden {
		if n < 1 {
			errs = append(errs, fmt.Errorf("model.hidden[%d] is %d, want 1 or more", i, n))
		}
	}
	if _, err := parseActivation(c.Activation); err != nil {
		errs = append(errs, fmt.Errorf("model.activation %w", err))
	}
	return errs
}

// Sparse reports whether the model reads ids. It may read dense features too.
func (c Config) Sparse() bool {
	p, _ := presetOf(c.Kind)
	return p.sparse || slices.ContainsFunc(c.Layers, func(l Layer) bool { return l.readsIDs() })
}
