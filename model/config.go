package model

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"ringtrain/model/graph"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
)

// Config describes a model: the keys model.* of a job file.
type Config struct {
	Kind       Kind              `yaml:"kind" doc:"Kind of model. ‘ringtrain jobs’ has a line on each."`
	Layers     []Layer           `yaml:"layers" doc:"Layers of a model of one's own, instead of a kind. ‘ringtrain jobs show NAME --layers’ spells a kind as layers. --set finds an item by its name or its number from 0, as in ‘model.layers.0.dense.units’."`
	Classes    Classes           `yaml:"classes" takes:"a number of 2 or more, a list of names, auto, or a file" doc:"Classes of the labels. A number: labels are 0 to one less, and the loss is softmax. A list: the labels, texts or numbers (1.0 is 1), in the order of the classes. auto: the labels of the training records, numbers by value, texts bytewise, no before yes, false before true. A file has a name a line. With names, ‘loss.kind: auto’ is sigmoid of two, whose score is the probability of the second, and softmax of more. Another label is a bad record."`
	Features   int               `yaml:"features" takes:"0 to 2147483647" doc:"Features of an example, or the number of ids. 0: as many as the training records have."`
	Fields     int               `yaml:"fields" takes:"0 to 65535" doc:"Bags of ids of a libffm record: each field is one, and fields are below this number. 0: one bag of all ids."`
	Hidden     []int             `yaml:"hidden" absent:"64, 32" takes:"1 or more" doc:"Sizes of the hidden layers, such as [128, 32]."`
	Activation Activation        `yaml:"activation" absent:"relu" doc:"Activation behind each hidden layer."`
	Embedding  int               `yaml:"embedding" absent:"8" takes:"1 or more" doc:"Numbers that are kept for an id. With softmax, fm and deepfm keep so many for each class."`
	Pooling    graph.Pooling     `yaml:"pooling" absent:"sum" doc:"How the embeddings of one field are joined, as TensorFlow's ‘embedding_lookup_sparse’ does."`
	Cross      int               `yaml:"cross" absent:"2" takes:"1 or more" doc:"Number of cross layers."`
	Init       graph.Initializer `yaml:"init" doc:"How kernels begin, instead of the kind's own way."`
	L1         float64           `yaml:"l1" takes:"0 or more" doc:"Adds l1·Σ|w| over all weights, without biases; a step takes it of the rows of tables that its records use. ‘loss’ is printed without the penalty, ‘objective’ with it."`
	L2         float64           `yaml:"l2" takes:"0 or more" doc:"Adds l2/2·Σw² over all weights, without biases; a step takes it of the rows of tables that its records use. ‘loss’ is printed without the penalty, ‘objective’ with it."`
	names      []string          // of the classes, if model.classes leaves them to a file or to the training records
}

// Explain completes the text of a key with the kinds that have it.
func (Config) Explain(key, doc string) string {
	return keys.Owned(kindsWith(key), doc)
}

// Unused returns a line for each key of other kinds that c gives a value.
func (c Config) Unused() (lines []string) {
	for _, f := range keys.Of(reflect.ValueOf(c)) {
		if of := kindsWith(f.Name); c.Kind != "" && of != nil && !slices.Contains(of, string(c.Kind)) && !keys.Same(f.Value, reflect.Zero(f.Value.Type())) {
			lines = append(lines, fmt.Sprintf("model.%s is not used by model.kind %s", f.Name, c.Kind))
		}
	}
	return lines
}

// Check returns all errors of c for a loss that do not depend on the records, joined, as
// usage errors.
func (c Config) Check(l LossConfig) error {
	l = keys.Fill(l)
	errs := append(keys.Check("model", &c), keys.Check("loss", &l)...)
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	fault := c.Classes.check()
	if c.names != nil {
		fault = faultOfNames(c.names)
	}
	if fault != "" {
		bad("model.classes %s", fault)
	}
	if c.Fields > 0 && !c.ReadsIDs(HaveIDs) {
		bad("model.fields is %d, want 0: the model reads no ids", c.Fields)
	}
	_, ok := presetOf(c.Kind)
	switch {
	case c.Kind == "" && len(c.Layers) > 0:
		errs = append(errs, keys.Unused("model", &c, []string{"kind", "layers", "classes", "features", "fields", "l1", "l2"}, "model.layers")...)
		errs = append(errs, c.checkLayers()...)
	case c.Kind == "":
		bad("model.kind is empty, want one of %s, or model.layers", c.Kind.Takes())
	case !ok: // keys.Check reports it
	case len(c.Layers) > 0:
		bad("model.layers has %d items, want none with model.kind %s", len(c.Layers), c.Kind)
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

// IDs says whether the records of a job have ids, as far as the job says it.
type IDs int

// The cases of IDs.
const (
	NoIDs      IDs = iota
	MayHaveIDs     // the model decides what is read of them
	HaveIDs
)

// ReadsIDs reports whether the model reads ids of such records. It may read dense features too.
func (c Config) ReadsIDs(records IDs) bool {
	p, ok := presetOf(c.Kind)
	switch {
	case !ok:
		return slices.ContainsFunc(c.items(), func(it item) bool { return it.op.ReadsIDs() })
	case p.layers == nil || p.ofIDs == nil:
		return p.ofIDs != nil
	}
	return records == HaveIDs || records == MayHaveIDs && p.prefersIDs
}
