package job

import (
	"errors"
	"fmt"
	"strings"

	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/model"
	"ringtrain/model/graph"
)

// ReadsIDs reports whether the model reads ids of the training records.
func (cfg *Config) ReadsIDs() bool { return cfg.Model.ReadsIDs(cfg.Input.ids()) }

// ids says whether the training records have ids.
func (in *Input) ids() model.IDs {
	f, _ := convert.FormatOf(in.Train.Format)
	columns := in.RecordColumns()
	switch {
	case in.Synthetic, f.Name == "", len(columns) == 0 && f.Has("ids") && in.Train.IDs == "":
		return model.MayHaveIDs
	case len(columns) > 0 && !column.MakesIDs(columns), f.Dense, len(in.Shape) > 0:
		return model.NoIDs
	}
	return model.HaveIDs
}

// checkReads checks that the model reads what input.columns makes.
func (cfg *Config) checkReads() error {
	columns := cfg.Input.Columns
	plan, err := column.Compile(columns, func(string) ([]string, error) { return nil, nil })
	if len(columns) == 0 || cfg.Input.Synthetic || err != nil || cfg.Model.Check(cfg.Loss) != nil {
		return nil
	}
	switch bags := plan.Columns().Bags; {
	case cfg.ReadsIDs() && len(bags) == 0:
		return errors.New("input.columns makes no ids, which the model reads: want categorical, text, ids, cross, or numeric with buckets; linear, softmax and mlp read numbers alone, too")
	case !cfg.ReadsIDs() && len(bags) > 0:
		return fmt.Errorf("input.columns makes ids of %s, but the model reads numbers only", bags[0].Name)
	}
	return nil
}

// Inputs returns what the model reads of records of a shape, which have no columns.
func (cfg *Config) Inputs(shape graph.Shape) model.Inputs {
	if cfg.ReadsIDs() {
		return model.Inputs{IDs: shape.Len()}
	}
	return model.Inputs{Dense: shape}
}

// checkFields checks that records of a model of so many fields have numbered fields.
func (in *Input) checkFields(fields int) error {
	var f faults
	refuse := func(of string) {
		f.add("model.fields is %d, want 0 with %s: only %s numbers fields", fields, of, strings.Join(convert.Names(convert.Format.HasFields), ", "))
	}
	if fields == 0 {
		return nil
	}
	if in.Synthetic {
		refuse("input.synthetic")
		return f.err()
	}
	for _, s := range in.sets() {
		if s.Format != "" && !s.format.Fields {
			refuse(fmt.Sprintf("%s.format %s", s.key, s.Format))
		}
	}
	return f.err()
}
