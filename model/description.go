package model

import "fmt"

// Description is what an exporter needs to know to build the model elsewhere.
type Description struct {
	Kind     string // as in Config
	Dense    bool   // takes dense features; else ids and values
	Features int
	Head     Head
	Classes  int // of HeadClasses; 2 for HeadBinary, 0 for HeadRegression
	Layers   []Layer
}

// Head says what the outputs of the last layer become.
type Head int

// The heads.
const (
	HeadRegression Head = iota + 1 // scores are the outputs [n, 1]
	HeadClasses                    // scores are softmax(outputs) [n, k]
	HeadBinary                     // scores are sigmoid(outputs) [n, 1]
)

// String is the head's name.
func (h Head) String() string {
	switch h {
	case HeadRegression:
		return "regression"
	case HeadClasses:
		return "classes"
	case HeadBinary:
		return "binary"
	}
	return fmt.Sprintf("Head(%d)", int(h))
}

// Layer describes one layer: "dense" (x·kernel + bias), "relu", or "sparse"
// (sum of kernel's rows by id, times value, + bias).
type Layer struct {
	Op           string
	Name         string // "softmax", "hidden_1"; a relu has the name of its dense layer
	Kernel, Bias string // names of variables, empty for relu
	In, Out      int
}

// Description describes the model.
func (m *Model) Description() Description {
	d := Description{Kind: m.config.Kind, Dense: m.sparse == nil, Features: m.config.Features}
	switch m.loss {
	case Squared:
		d.Head = HeadRegression
	case Softmax:
		d.Head, d.Classes = HeadClasses, m.config.Classes
	case Sigmoid:
		d.Head, d.Classes = HeadBinary, 2
	}
	if s := m.sparse; s != nil {
		d.Layers = append(d.Layers, Layer{"sparse", layerName(s.bias), s.weights.Name, s.bias.Name, m.config.Features, 1})
	}
	for _, l := range m.layers {
		switch l := l.(type) {
		case *dense:
			d.Layers = append(d.Layers, Layer{"dense", layerName(l.bias), l.kernel.Name, l.bias.Name, l.in, l.out})
		case *relu:
			before := d.Layers[len(d.Layers)-1]
			d.Layers = append(d.Layers, Layer{Op: "relu", Name: before.Name, In: before.Out, Out: before.Out})
		}
	}
	return d
}

func layerName(bias *Variable) string { return bias.Name[:len(bias.Name)-len("/bias")] }
