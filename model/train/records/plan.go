package records

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/text"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// compile makes the plan of input.columns if the records have columns. A vocabulary whose file is not there is the one of
// the columns that a trained model keeps, which may be nil.
func (o *Opener) compile(ctx context.Context, kept *graph.Columns) error {
	columns := o.job.Input.RecordColumns()
	if len(columns) == 0 {
		return nil
	}
	plan, err := column.Compile(columns, func(file string) ([]string, error) {
		texts, err := o.vocabulary(ctx, file)
		if found := keptVocabulary(columns, kept, file); exitcode.Of(err) == exitcode.NoInput && found != nil {
			return found, nil
		}
		return texts, err
	})
	if err != nil {
		return o.job.Locate(err)
	}
	if f, _ := convert.FormatOf(o.job.Input.Train.Format); f.Lists {
		for at := range plan.Inputs {
			plan.TakeList(at)
		}
	}
	plan.SetMissing(o.job.Input.Missing)
	plan.Trim = o.job.Input.Train.Trim
	o.plan = plan
	plan.Classes = o.classes
	return nil
}

// compileLabelled prepares the classes and compiles input.columns, for records whose labels are read.
func (o *Opener) compileLabelled(ctx context.Context) error {
	if err := errors.Join(o.job.CheckLabel(), o.prepareClasses(ctx)); err != nil {
		return err
	}
	return o.compile(ctx, nil)
}

// keptVocabulary returns the vocabulary of a file as kept has it, nil if it has none.
func keptVocabulary(columns []column.Column, kept *graph.Columns, file string) []string {
	if kept == nil {
		return nil
	}
	for _, c := range columns {
		if c.Categorical == nil || c.Categorical.Vocabulary != file {
			continue
		}
		names, _ := column.Expand(c.Categorical.Names) // Compile returns the error
		for _, b := range kept.Bags {
			if b.Kind == graph.Vocabulary && slices.Contains(names, b.Name) {
				return b.Vocabulary
			}
		}
	}
	return nil
}

// vocabulary reads a vocabulary file of the job, which may be elsewhere.
func (o *Opener) vocabulary(ctx context.Context, file string) ([]string, error) {
	here, err := o.places.Folder(ctx, o.far(file))
	if err != nil {
		return nil, err
	}
	return readVocabulary(ctx, o.opts.Roots, here)
}

// readVocabulary reads a vocabulary file of one text a line.
func readVocabulary(ctx context.Context, roots []string, file string) ([]string, error) {
	path, err := input.ExpandOne(roots, file)
	if err != nil {
		return nil, err
	}
	var content strings.Builder
	if err := text.Inflate(ctx, &content, path, input.Limits{}); err != nil {
		return nil, err
	}
	texts := strings.TrimPrefix(content.String(), "\ufeff") // a byte order mark
	lines := strings.Split(strings.TrimSuffix(texts, "\n"), "\n")
	seen := make(map[string]bool, len(lines))
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case line == "" || !utf8.ValidString(line) || strings.Contains(line, "\x00"):
			err = errors.New("want a text of UTF-8, without a byte 0")
		case seen[line]:
			err = fmt.Errorf("%q occurs twice", line)
		}
		if err != nil {
			return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s:%d: %w", path, i+1, err))
		}
		seen[line], lines[i] = true, line
	}
	return lines, nil
}

// ColumnInputs returns the inputs of a job's model for records with columns.
func ColumnInputs(j *job.Config, c graph.Columns) (model.Inputs, error) {
	var in model.Inputs
	if n := len(c.Dense); n > 0 {
		in.Dense = graph.Shape{n}
	}
	in.IDs, in.Fields = int(c.Size()), len(c.Bags)
	switch {
	case j.Model.Features != 0:
		return in, fmt.Errorf("model.features is %d, want 0: input.columns says what the model reads", j.Model.Features)
	case len(j.Input.Shape) > 0:
		return in, fmt.Errorf("input.shape is %v, want none with input.columns", j.Input.Shape)
	}
	return in, nil
}

// Plan returns the plan of input.columns, nil if the records have no columns, and before Open or Adopt.
func (o *Opener) Plan() *column.Plan { return o.plan }

// Adopt compiles input.columns and takes the means, deviations and vocabularies that training
// learned. Path names the checkpoint or bundle that stores them; learned is nil if it has none.
func (o *Opener) Adopt(ctx context.Context, path string, learned *graph.Columns) error {
	if err := o.compile(ctx, learned); err != nil || o.plan == nil {
		return err
	}
	if learned == nil && o.plan.Learns() {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s does not store what training learned of the columns, which input.columns needs", path))
	}
	if learned == nil {
		return nil
	}
	if err := o.plan.Adopt(*learned); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// NewModel builds the model of the job for records with such facts.
func (o *Opener) NewModel(facts input.Facts) (*model.Model, error) {
	return newModel(o.job, o.plan, facts)
}

// NewModel builds the model of a job for its records.
func (s Set) NewModel(cfg *job.Config) (*model.Model, error) {
	return newModel(cfg, s.Plan, s.Train.Facts())
}
