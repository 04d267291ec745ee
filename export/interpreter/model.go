package interpreter

import "ringtrain/export/tfpb"

// Model is a loaded version. It must stay open while programs of it run.
type Model struct {
	Path       string
	Signatures []Signature // by name
	Mapped     int64       // bytes of variables that are mapped from the files
}

// Signature is one way to call a model.
type Signature struct {
	Name, Method    string
	Inputs, Outputs []Port    // by key
	Features        []Feature // of the tf.Examples that its input of examples takes, by name; nil: it takes none
}

// Port is an input or an output of a signature.
type Port struct {
	Key   string
	Type  tfpb.DataType
	Shape []int // -1 for any size; nil of any rank
}

// Feature is a feature of the tf.Examples that a signature parses.
type Feature struct {
	Name    string
	Type    tfpb.DataType
	Kind    Kind
	Shape   []int   // of one example, -1 for a first dimension that varies
	Default *Tensor // in the place of a missing feature; nil: it is required, or may be empty if it is sparse or ragged
}

// Kind is the form in which a graph parses a feature.
type Kind string

// The kinds of features.
const (
	Dense  Kind = "dense"
	Sparse Kind = "sparse"
	Ragged Kind = "ragged"
)
