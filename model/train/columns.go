package train

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// criteoHash is the number of ids of each text column of format criteo, where the job has no
// input.columns.
const criteoHash = 100_000

// criteoColumns are those of Criteo's click logs: label, 13 counts and 26 texts.
func criteoColumns() []column.Column {
	return []column.Column{
		{Label: &column.LabelOptions{Names: []string{"label"}}},
		{Numeric: &column.NumericOptions{Names: []string{"I1..I13"}, Transform: "log1p", Standardize: true}},
		{Categorical: &column.CategoricalOptions{Names: []string{"C1..C26"}, Hash: criteoHash}},
	}
}

// columnFormats are those whose records have columns.
func columnFormats() []string { return []string{"csv", "criteo", "tfrecord"} }

// checkColumns checks input.columns and the formats beside it, all but what needs files.
func (in *Input) checkColumns(f *faults) {
	files := []struct{ key, format string }{{"input.train", in.Train.Format}, {"input.eval", in.Eval.Format}}
	for i, e := range in.Evals {
		files = append(files, struct{ key, format string }{evalKey(e.Name, i), e.Format})
	}
	for _, k := range files {
		has := slices.Contains(columnFormats(), k.format)
		switch {
		case len(in.Columns) > 0 && !has && slices.Contains(formats(), k.format):
			f.add("%s.format is %s, want one of %s with input.columns", k.key, k.format, strings.Join(columnFormats(), ", "))
		case len(in.Columns) == 0 && k.format == "csv":
			f.add("input.columns is empty, want what the columns become: %s.format is csv", k.key)
		}
	}
	if len(in.Columns) == 0 {
		return
	}
	_, err := column.Compile(in.Columns, func(string) ([]string, error) { return nil, nil })
	*f = append(*f, flatten(err)...)
}

// separator is the character between the fields of csv.
func (f *Files) separator() (byte, error) {
	switch {
	case f.Separator == "":
		return ',', nil
	case f.Separator == "tab":
		return '\t', nil
	case len(f.Separator) == 1 && f.Separator[0] < utf8.RuneSelf && !strings.Contains("\"\r\n", f.Separator):
		return f.Separator[0], nil
	}
	return 0, fmt.Errorf("separator is %q, want ASCII, one character that is no quote, or tab", f.Separator)
}

// compileColumns makes the job's plan of input.columns, for records that have columns.
func (j *Job) compileColumns(roots []string) error {
	columns := j.Input.Columns
	if len(columns) == 0 && j.Input.Train.Format == "criteo" {
		columns = criteoColumns()
	}
	if len(columns) == 0 {
		return nil
	}
	plan, err := column.Compile(columns, func(file string) ([]string, error) { return readVocabulary(roots, file) })
	if err != nil {
		return j.located(err)
	}
	j.plan = plan
	return nil
}

// readVocabulary reads a text a line.
func readVocabulary(roots []string, file string) ([]string, error) {
	path, err := oneFile(roots, file)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, input.ReadError(path, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	seen := make(map[string]bool, len(lines))
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case line == "" || !utf8.ValidString(line):
			err = errors.New("want a text of UTF-8")
		case seen[line]:
			err = fmt.Errorf("%q is there twice", line)
		}
		if err != nil {
			return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s:%d: %w", path, i+1, err))
		}
		seen[line], lines[i] = true, line
	}
	return lines, nil
}

// columnInputs returns what the model reads of records with columns.
func (j *Job) columnInputs(c graph.Columns) (model.Inputs, error) {
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
	case j.Model.Sparse() && in.IDs == 0:
		return in, errors.New("input.columns makes no ids, which the model reads: want categorical, ids, cross, or numeric with buckets")
	case !j.Model.Sparse() && in.IDs > 0:
		return in, fmt.Errorf("input.columns makes ids of %s, but the model reads numbers only", c.Bags[0].Name)
	}
	return in, nil
}

// columns returns what the columns of a record become, nil without input.columns.
func (j *Job) columns() *graph.Columns {
	if j.plan == nil {
		return nil
	}
	c := j.plan.Columns()
	return &c
}

// digestOfColumns is short, and differs where the columns or what was learnt of them do.
func digestOfColumns(c *graph.Columns) string {
	text, err := json.Marshal(c)
	if err != nil {
		panic("train: columns cannot be encoded")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// adoptColumns makes the plan of input.columns with what was learnt in training.
func (j *Job) adoptColumns(kept stored, roots []string) error {
	if err := j.compileColumns(roots); err != nil || j.plan == nil {
		return err
	}
	if kept.columns == nil && j.plan.Learns() {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s does not say what was learnt of the columns, which input.columns wants", kept.path))
	}
	if kept.columns == nil {
		return nil
	}
	if err := j.plan.Adopt(*kept.columns); err != nil {
		return fmt.Errorf("%s: %w", kept.path, err)
	}
	return nil
}

// sameTexts returns an error if a vocabulary has another text for an id than the one that the
// variables of from were trained with. Other means and deviations are told.
func (r *run) sameTexts(from stored) error {
	now := r.job.columns()
	if now == nil || from.columns == nil {
		return nil
	}
	for _, b := range now.Bags {
		for _, was := range from.columns.Bags {
			if was.Name == b.Name && was.Kind == b.Kind && (was.First != b.First || !slices.Equal(was.Vocabulary, b.Vocabulary)) {
				return exitcode.With(exitcode.Usage, fmt.Errorf(
					"train.init_from.path: %s has %d texts of column %s, these records have %d, and not the same: give the same vocabulary as a file, or exclude its variables",
					from.path, len(was.Vocabulary), b.Name, len(b.Vocabulary)))
			}
		}
	}
	if !slices.Equal(now.Dense, from.columns.Dense) {
		r.opts.Notice(fmt.Sprintf("means or deviations of columns are not those of %s: the records differ", from.path))
	}
	return nil
}
