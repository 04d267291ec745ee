package interpreter

import (
	"fmt"
	"slices"
	"sync"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
	"ringtrain/ring/phrase"
)

// Model is a loaded version. It must stay open while programs of it run.
type Model struct {
	Path       string
	Signatures []Signature // by name
	Mapped     int64       // bytes of variables that are mapped from the files

	store
	lib      *library
	meta     *tfpb.MetaGraphDef
	files    []Port     // the tensors that have the paths of the variables and the assets
	paths    []*Tensor  // of files
	starts   []*Program // restore the variables, and initialize the model
	programs []*Program // of Signatures
}

// store is what the programs of a model share.
type store struct {
	prefix    string         // of the files that have the variables
	variables *bundle.Reader // nil: the model has none
	mapped    int            // bytes of variables
	changing  bool           // a run that follows can change a variable: its value is no constant
	most      limits

	mu        sync.Mutex
	resources map[string]any // variables and tables
	constants map[*tfpb.TensorProto]*Tensor

	wide sync.Mutex     // of many
	many *kernel.Engine // on all cores; a run that finds it in use takes its own, on one
}

// limits are bytes.
type limits struct {
	constants int // that may still be made
	run       int // of all tensors of a run
	folded    int // of the constants that a program has computed
}

// Signature is one way to call a model.
type Signature struct {
	Name, Method    string
	Inputs, Outputs []Port    // by key
	Features        []Feature // of the tf.Examples that its input of examples takes, by name; nil: it takes none
}

// String returns the signature as messages have it.
func (s *Signature) String() string { return "signature " + phrase.Name(s.Name) }

// Signature returns the signature of a name.
func (m *Model) Signature(name string) (*Signature, error) {
	names := make([]string, len(m.Signatures))
	for i := range m.Signatures {
		if names[i] = m.Signatures[i].Name; names[i] == name {
			return &m.Signatures[i], nil
		}
	}
	return nil, wanted("signature", name, names)
}

// Output returns the place of an output among those of a signature.
func (s *Signature) Output(key string) (int, error) {
	names := Keys(s.Outputs)
	if i := slices.Index(names, key); i >= 0 {
		return i, nil
	}
	return 0, wanted("output", key, names)
}

// Keys returns the keys of ports.
func Keys(ports []Port) []string {
	all := make([]string, len(ports))
	for i, p := range ports {
		all[i] = p.Key
	}
	return all
}

// wanted returns the error of a name that is none of those that there are.
func wanted(what, name string, names []string) error {
	const most = 20
	return fmt.Errorf("%s is %s, want one of %s%s", what, phrase.Quote(name), phrase.Names(names, most), phrase.DidYouMean(name, names))
}

// Port is an input or an output of a signature.
type Port struct {
	Key   string
	Type  tfpb.DataType
	Shape []int // -1 for any size; nil of any rank

	tensor string // in the graph: node:0
}

// Fits reports whether a tensor of a shape is one that p describes.
func (p Port) Fits(shape []int) bool { return like(shape, p.Shape) }

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

// resource returns the variable or table with a key. The first call makes it.
func (s *store) resource(key string, create func() any) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resources[key] == nil {
		s.resources[key] = create()
	}
	return s.resources[key]
}

// constant returns the value of a node's message, which lasts as long as the model.
func (s *store) constant(p *tfpb.TensorProto) *Tensor {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.constants[p]; t != nil {
		return t
	}
	t := sure(FromProto(p, s.most.constants))
	s.most.constants -= Elements(t.Shape) * laneOf(t.Type).size()
	s.constants[p] = t
	return t
}
