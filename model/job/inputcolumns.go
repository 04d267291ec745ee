package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// checkColumns checks input.columns against the formats, except the conditions that need files.
func (in *Input) checkColumns(f *faults) {
	for _, s := range in.sets() {
		switch {
		case len(in.Columns) > 0 && s.format.Name != "" && !s.format.HasColumns():
			f.add("%s.format is %s, want one of %s with input.columns", s.key, s.Format, strings.Join(convert.Names(convert.Format.HasColumns), ", "))
		case len(in.Columns) == 0 && s.format.Columns == convert.WantColumns && s.format.Default == nil:
			f.add("input.columns is empty, want what the columns become: %s.format is %s", s.key, s.Format)
		}
	}
	if len(in.Columns) == 0 {
		return
	}
	_, err := column.Compile(in.Columns, func(string) ([]string, error) { return nil, nil })
	*f = append(*f, flatten(err)...)
}

// checkMissing checks the words of input.missing, which are compared with cells without the blanks around them.
func (in *Input) checkMissing(f *faults) {
	for _, word := range in.Missing {
		if strings.TrimSpace(word) != word || !utf8.ValidString(word) {
			f.add("input.missing has %q, want texts of UTF-8 without blanks around them", word)
		}
	}
}

// checkScale returns an error for a label that is scaled, or written as a number of its own form, and no number.
func (cfg *Config) checkScale() error {
	for i, c := range cfg.Input.Columns {
		if c.Label != nil && (c.Label.Decimal != "" || c.Label.Strip != "") && cfg.Model.Named() {
			return fmt.Errorf("input.columns.%d.label has decimal or strip, want none: names of model.classes are texts", i)
		}
	}
	if cfg.Model.Check(cfg.Loss) != nil || cfg.Model.Head(cfg.Loss).Kind == graph.HeadRegression {
		return nil
	}
	for i, c := range cfg.Input.Columns {
		if c.Label != nil && (c.Label.Standardize || c.Label.Transform != "") {
			return fmt.Errorf("input.columns.%d.label has standardize or transform, want none: the labels are classes", i)
		}
	}
	return nil
}

// CheckLabel returns an error if input.columns has no label, which training and evaluation read.
func (cfg *Config) CheckLabel() error {
	columns := cfg.Input.RecordColumns()
	isLabel := func(c column.Column) bool { return c.Label != nil }
	if cfg.Input.Synthetic || len(columns) == 0 || slices.ContainsFunc(columns, isLabel) {
		return nil
	}
	return cfg.Locate(exitcode.With(exitcode.Usage, errors.New("input.columns has no label, want one to train or evaluate")))
}

// RecordColumns returns input.columns, or without them those that the format of the training records has of
// its own.
func (in *Input) RecordColumns() []column.Column {
	f, _ := convert.FormatOf(in.Train.Format)
	if len(in.Columns) == 0 && f.Default != nil {
		return f.Default()
	}
	return in.Columns
}
