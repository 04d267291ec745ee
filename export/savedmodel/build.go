package savedmodel

import (
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// What a file says of its writer. Servers need the first two only.
const (
	producer          = 175 // TensorFlow 2.1's
	minConsumer       = 12
	tensorflowVersion = "2.1.0"
	schemaVersion     = 1
	serveTag          = "serve"
)

// build returns saved_model.pb for a model.
func build(m *graph.Graph, names Names) *tfpb.SavedModel {
	checkGraph(m)
	var g builder
	var variables []string
	var defs []*tfpb.VariableDef
	for _, v := range variablesOf(m) {
		variables = append(variables, v.Name)
		defs = append(defs, g.variable(v))
	}
	saver := g.saver(variables)
	signatures := g.model(m, names)
	return &tfpb.SavedModel{
		SavedModelSchemaVersion: schemaVersion,
		MetaGraphs: []*tfpb.MetaGraphDef{{
			MetaInfoDef: &tfpb.MetaGraphDef_MetaInfoDef{
				Tags:                 []string{serveTag},
				TensorflowVersion:    tensorflowVersion,
				StrippedDefaultAttrs: true,
			},
			GraphDef: &tfpb.GraphDef{
				Node:     g.nodes,
				Versions: &tfpb.VersionDef{Producer: producer, MinConsumer: minConsumer},
			},
			SaverDef:      saver,
			CollectionDef: collections(defs),
			SignatureDef:  signatures,
		}},
	}
}

// model adds input, layers and head.
func (g *builder) model(m *graph.Graph, names Names) signatures {
	in := m.Inputs[0]
	features := int64(in.Shape.Len())
	if in.Kind == graph.Sparse {
		g.sparseInput(names.IDs, names.Values)
	} else {
		g.denseInput(names.Dense, in.Shape.Len())
	}
	at := g.layers(m)
	switch m.Head.Kind {
	case graph.HeadRegression:
		g.regressionHead(at)
		return regressionSignatures(features)
	case graph.HeadClasses:
		g.classesHead(at, m.Head)
		return classesSignatures(features, int64(m.Head.Classes))
	default:
		if in.Kind == graph.Dense {
			g.denseBatchSize()
		}
		g.binaryHead(at, m.Head)
		return binarySignatures(in.Kind == graph.Sparse, features)
	}
}

// checkGraph panics if the graph has no signatures. That its nodes fit together is the
// graph's own affair.
func checkGraph(m *graph.Graph) {
	switch {
	case len(m.Nodes) == 0:
		panic("savedmodel: a model has no layers")
	case len(m.Inputs) != 1:
		panic("savedmodel: want a model of one input")
	case m.Inputs[0].Kind == graph.Sparse && m.Head.Kind != graph.HeadBinary:
		panic("savedmodel: no signatures for this head with these features")
	case m.Output().Out.Len() != m.Head.Outputs():
		panic("savedmodel: the last layer does not fit the head")
	}
}
