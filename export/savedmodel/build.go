package savedmodel

import (
	"ringtrain/export/tfpb"
	"ringtrain/model"
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
func build(d model.Description, names Names) *tfpb.SavedModel {
	checkDescription(d)
	var g graph
	var variables []string
	var defs []*tfpb.VariableDef
	for _, v := range variablesOf(d) {
		variables = append(variables, v.Name)
		defs = append(defs, g.variable(v))
	}
	saver := g.saver(variables)
	signatures := g.model(d, names)
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
func (g *graph) model(d model.Description, names Names) signatures {
	if d.Dense {
		g.denseInput(names.Dense, d.Features)
	} else {
		g.sparseInput(names.IDs, names.Values)
	}
	at := g.layers(d)
	switch d.Head {
	case model.HeadRegression:
		g.regressionHead(at)
		return regressionSignatures(int64(d.Features))
	case model.HeadClasses:
		g.classesHead(at, d.Classes)
		return classesSignatures(int64(d.Features), int64(d.Classes))
	default:
		g.binaryHead(at)
		return binarySignatures()
	}
}

// checkDescription panics if the layers do not fit together, or make a model
// that has no signatures.
func checkDescription(d model.Description) {
	width := d.Features
	for i, l := range d.Layers {
		if l.In != width || (l.Op == "sparse") != (!d.Dense && i == 0) {
			panic("savedmodel: layers do not fit together")
		}
		width = l.Out
	}
	switch {
	case len(d.Layers) == 0:
		panic("savedmodel: a model has no layers")
	case d.Head == model.HeadRegression && d.Dense && width == 1:
	case d.Head == model.HeadClasses && d.Dense && width == d.Classes:
	case d.Head == model.HeadBinary && !d.Dense && width == 1:
	default:
		panic("savedmodel: no signatures for this head with these features")
	}
}
