package records

import (
	"fmt"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// newModel builds the model of the job for records with such facts.
func newModel(j *job.Config, plan *column.Plan, facts input.Facts) (*model.Model, error) {
	in, err := inputs(j, plan, facts)
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	g, err := j.Model.GraphOf(in, j.Loss)
	if err != nil {
		return nil, j.Locate(err)
	}
	if names := facts.Classes; g.Head.Labels == nil && len(names) == g.Head.Classes {
		g.Head.Labels = names // of folders
	}
	g.Columns = Set{Plan: plan}.Columns()
	if c := g.Columns; c != nil && c.Label != nil {
		g.Head.Scale = c.Label.Scale
	}
	m := model.New(g)
	if s := j.Loss.LabelSmoothing; s > 0 {
		m.Smooth(float32(s))
	}
	return m, nil
}

// inputs returns the inputs of the model for the records.
func inputs(j *job.Config, plan *column.Plan, facts input.Facts) (model.Inputs, error) {
	if plan != nil {
		return ColumnInputs(j, plan.Columns())
	}
	shape, err := shapeOf(j, facts)
	if err != nil {
		return model.Inputs{}, err
	}
	return j.Inputs(shape), nil
}

// shapeOf returns the shape of a record as the model reads it.
func shapeOf(j *job.Config, facts input.Facts) (graph.Shape, error) {
	features := j.Model.Features
	if features == 0 {
		features = facts.Features
	}
	if j.ReadsIDs() {
		return graph.Shape{features}, nil
	}
	if features != facts.Features {
		return nil, fmt.Errorf("model.features is %d, want %d as the records have", features, facts.Features)
	}
	if len(j.Input.Shape) == 0 {
		return facts.ShapeOf(), nil
	}
	if s := graph.Shape(j.Input.Shape); s.Len() != features {
		return nil, fmt.Errorf("input.shape is %v, which is %d values, want %d as the records have", s, s.Len(), features)
	}
	return j.Input.Shape, nil
}
