package savedmodel

import (
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// Fields of the model that describe its writer. Servers need only producer and
// minConsumer.
const (
	producer          = 175 // that of TensorFlow 2.1
	minConsumer       = 12
	tensorflowVersion = "2.1.0"
	schemaVersion     = 1
	serveTag          = "serve"
)

// build returns the content of saved_model.pb for a model.
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
			CollectionDef: collections(defs, g.tables),
			SignatureDef:  signatures,
		}},
	}
}

// model adds the nodes of input, layers and head.
func (bu *builder) model(m *graph.Graph, names Names) signatures {
	e := featuresOf(m)
	switch {
	case m.Columns != nil:
		columnNodes{bu}.columns(m.Columns)
	case e.sparse:
		bu.idsInput(names, e.fields, int(e.dense))
	default:
		bu.parse(nil, bu.required(names.Dense, int(e.dense)))
		bu.add("Identity", nodeX, []string{parse}, floats())
	}
	at := layerNodes{bu, map[string]*embedded{}}.layers(m)
	switch m.Head.Kind {
	case graph.HeadRegression:
		headNodes{bu}.regression(at, m.Head.Scale)
		return e.regression()
	case graph.HeadClasses:
		headNodes{bu}.classes(at, m.Head)
		return e.classes(int64(m.Head.Classes))
	default:
		if !e.sparse {
			bu.denseBatchSize()
		}
		headNodes{bu}.binary(at, m.Head)
		return e.binary()
	}
}

// featuresOf returns the features that requests feed.
func featuresOf(m *graph.Graph) features {
	e := features{columns: m.Columns != nil}
	if e.columns {
		e.keys = KeyOutputs(m.Columns.Keys)
	}
	for _, p := range m.Inputs {
		if p.Kind == graph.Sparse {
			e.sparse, e.fields = true, max(p.Fields, 1)
		} else {
			e.dense = int64(p.Shape.Len())
		}
	}
	return e
}

// checkGraph panics if the graph cannot have signatures. Package graph has checked that
// its nodes fit together.
func checkGraph(m *graph.Graph) {
	switch {
	case len(m.Nodes) == 0:
		panic("savedmodel: a model has no layers")
	case len(m.Inputs) == 0 || len(m.Inputs) > 2 || len(m.Inputs) == 2 && m.Inputs[0].Kind == m.Inputs[1].Kind:
		panic("savedmodel: want a model of one input, or of ids and dense features")
	case m.Output().Out.Len() != m.Head.Outputs():
		panic("savedmodel: the last layer does not fit the head")
	}
	for _, p := range m.Inputs {
		for _, n := range m.Nodes {
			if slices.Contains(n.In, p.Name) && n.Op.ReadsIDs() != (p.Kind == graph.Sparse) {
				panic("savedmodel: a layer of ids reads dense features, or another ids")
			}
		}
	}
}
