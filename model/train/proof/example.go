package proof

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/savedmodel"
	"ringtrain/export/tfpb"
	"ringtrain/input/column"
)

// examples makes tf.Examples of records.
type examples struct {
	names savedmodel.Names // of records without columns

	// Of records with columns: how each of the plan's Inputs is sent.
	runner *column.Runner
	inputs []string
	lists  []column.List
}

// newExamples returns how the records of a plan, which may be nil, are sent to a graph that parses such features. A feature
// that no record has is an error, and so is a column that the graph does not parse.
func newExamples(plan *column.Plan, runner *column.Runner, names savedmodel.Names, features map[string]tfpb.DataType) (examples, error) {
	e := examples{names: names}
	known := []string{names.IDs, names.Values, names.Fields, names.Dense}
	if plan != nil {
		known, e.runner, e.inputs, e.lists = plan.Inputs, runner, plan.Inputs, make([]column.List, len(plan.Inputs))
		for at, name := range plan.Inputs {
			t, parsed := features[name]
			switch {
			case !plan.Predicts(at):
			case !parsed:
				return e, fmt.Errorf("the graph parses no feature %s, which is a column of the model", name)
			default:
				e.lists[at] = listOf(t)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(features)) {
		if !slices.Contains(known, name) {
			return e, fmt.Errorf("the graph parses a feature %s, which the model does not have", name)
		}
	}
	return e, nil
}

// listOf returns the list that has values of a type.
func listOf(t tfpb.DataType) column.List {
	switch t {
	case tfpb.DataType_DT_FLOAT:
		return column.Floats
	case tfpb.DataType_DT_INT64:
		return column.Integers
	}
	return column.Texts
}

// ofCells returns the example of a record with columns, and the cells that it stands for.
func (e *examples) ofCells(cells []column.Cell) (example []byte, sent []column.Cell) {
	sent = e.runner.Request(cells, e.lists)
	features := map[string]*tfpb.Feature{}
	for at, c := range sent {
		t := interpreter.Tensor{Type: tfpb.DataType_DT_STRING, Float32: c.Values, Int64: c.IDs, Bytes: c.Texts}
		switch {
		case len(c.Values) > 0:
			t.Type = tfpb.DataType_DT_FLOAT
		case len(c.IDs) > 0:
			t.Type = tfpb.DataType_DT_INT64
		case len(c.Texts) == 0 && len(c.Text) == 0:
			continue
		case len(c.Texts) == 0:
			t.Bytes = [][]byte{c.Text}
		}
		features[e.inputs[at]] = ask.Feature(&t)
	}
	return encoded(features), sent
}

// ofRow returns the example of a record without columns, which is alone in r.
func (e *examples) ofRow(r *rows) []byte {
	features := map[string]*tfpb.Feature{}
	if bags := &r.batch.X.Bags; bags.Fields > 0 {
		features[e.names.IDs], features[e.names.Values] = ask.Feature(r.ids()), ask.Feature(r.values())
		if bags.Fields > 1 {
			features[e.names.Fields] = ask.Feature(r.fields())
		}
	}
	if r.batch.X.Dense.Cols > 0 {
		features[e.names.Dense] = ask.Feature(r.numbers())
	}
	return encoded(features)
}

func encoded(features map[string]*tfpb.Feature) []byte {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: features}})
	if err != nil {
		panic("proof: an example cannot be encoded")
	}
	return text
}
