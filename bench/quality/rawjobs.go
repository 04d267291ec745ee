package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/model/job"
)

// A rawEntry is a data set in raw files. The job that `ringtrain init` writes for it is trained as it is, but for the fold,
// on five folds of a fifth. Scikit-learn has the same records in each fold.
type rawEntry struct {
	name  string
	files []string // of the folder of data sets
	draw  string   // options of `ringtrain data make table`, which draws the file instead
	label string   // of files that do not say it
}

// The bars: how much worse than scikit-learn's linear model the mean of the folds may be.
const (
	folds   = 5
	mostAUC = 0.01 // below
	mostRMS = 1.03 // times
)

func rawEntries() []rawEntry {
	return []rawEntry{
		{name: "cancer-raw", files: []string{"cancer/cancer_train.csv", "cancer/cancer_test.csv"}, label: "c10"},
		{name: "boston-raw", files: []string{"boston-housing/train.csv"}, label: "medv"},
		{name: "criteo-raw", files: []string{"criteo/8k/train.tsv.gz", "criteo/8k/dev.tsv.gz", "criteo/8k/test.tsv.gz"}},
		{name: "table-raw", draw: "--rows 5000 --seed 1"},
		{name: "table-raw-large", draw: "--rows 50000 --seed 2"},
	}
}

// A rawRow is a line of the table of raw files: of each fold the AUC, or the RMSE of a regression.
type rawRow struct {
	rawEntry
	kind          string // of the model
	records       int
	regression    bool
	ours          []float64
	linear, trees []float64 // scikit-learn's
	err           error
}

//go:embed sklearn_table.py
var sklearnTable string

// looked is what init says of a table, in the words of sklearn_table.py.
type looked struct {
	Files     []string `json:"files"`
	Separator string   `json:"separator"`
	Header    bool     `json:"header"`
	Names     []string `json:"names"`
	Label     string   `json:"label"`
	Classes   []string `json:"classes"`
	Numbers   []string `json:"numbers"`
	Dates     []string `json:"dates"`
	Texts     []string `json:"texts"`
	HeldOut   [][]int  `json:"held_out"`
}

// rawRow trains the job of init and scikit-learn's models.
func (t trainer) rawRow(ctx context.Context, e rawEntry, python string) (r rawRow) {
	r.rawEntry = e
	folder, err := os.MkdirTemp("", "quality-raw")
	if err != nil {
		r.err = err
		return r
	}
	defer os.RemoveAll(folder)
	about, err := t.look(ctx, folder, &r)
	for fold := 0; fold < folds && err == nil; fold++ {
		share := 1.0 / folds
		split := input.Split{Share: &share, Fold: fold}
		about.HeldOut = append(about.HeldOut, held(split.Parts(r.records), r.records))
		var o outcome
		if o, err = t.fold(ctx, folder, fold); err == nil {
			r.ours = append(r.ours, o.auc+o.rmse) // one of which is 0
		}
	}
	if err == nil {
		err = r.compare(ctx, python, about)
	}
	r.err = err
	t.say(r.line())
	return r
}

// look has init write job.yaml into a folder, for files that it first draws if the entry says so.
func (t trainer) look(ctx context.Context, folder string, r *rawRow) (about looked, err error) {
	for _, name := range r.files {
		path, err := filepath.Abs(filepath.Join(t.data, name))
		if err != nil {
			return about, err
		}
		about.Files = append(about.Files, path)
	}
	if r.draw != "" {
		if _, err := t.command(ctx, folder, append([]string{"data", "make", "table", "--to", folder}, strings.Fields(r.draw)...)...); err != nil {
			return about, err
		}
		about.Files = []string{filepath.Join(folder, "table.csv")}
	}
	argv := append([]string{"init", "--json", "--to", "job.yaml"}, about.Files...)
	if r.label != "" {
		argv = append(argv, "--label", r.label)
	}
	said, err := t.command(ctx, folder, argv...)
	if err != nil {
		return about, err
	}
	return about, about.read(said, filepath.Join(folder, "job.yaml"), r)
}

// read reads the events of init and its job.
func (l *looked) read(said []byte, file string, r *rawRow) error {
	l.Classes, l.Numbers, l.Dates, l.Texts = []string{}, []string{}, []string{}, []string{}
	places := map[string]*[]string{"numeric": &l.Numbers, "time": &l.Dates, "categorical": &l.Texts}
	for lines := bufio.NewScanner(bytes.NewReader(said)); lines.Scan(); {
		var e struct {
			Event, Column, Becomes string
			Records                int
			Label                  struct {
				Column  string
				Classes []string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return err
		}
		switch e.Event {
		case "column":
			l.Names = append(l.Names, e.Column)
			if to := places[e.Becomes]; to != nil {
				*to = append(*to, e.Column)
			}
		case "init":
			l.Label, l.Classes, r.records = e.Label.Column, append(l.Classes, e.Label.Classes...), e.Records
		}
	}
	cfg, err := job.Load(file, nil, nil)
	if err != nil {
		return err
	}
	r.kind, r.regression = string(cfg.Model.Kind), len(l.Classes) == 0
	l.Header, l.Separator = cfg.Input.Train.Header, cfg.Input.Train.Separator
	switch {
	case cfg.Input.Train.Format == "criteo", l.Separator == "tab":
		l.Separator = "\t"
	case l.Separator == "":
		l.Separator = ","
	}
	return nil
}

// held returns the numbers of the records that validate.
func held(parts *input.Parts, n int) (all []int) {
	for i := range n {
		if parts.Has(i, input.Validation) {
			all = append(all, i)
		}
	}
	return all
}

// fold trains job.yaml with a fold held out, in a folder of its own.
func (t trainer) fold(ctx context.Context, folder string, fold int) (outcome, error) {
	own := filepath.Join(folder, fmt.Sprint(fold))
	if err := os.Mkdir(own, 0o700); err != nil {
		return outcome{}, err
	}
	said, err := t.command(ctx, own, "train", "--json", filepath.Join(folder, "job.yaml"),
		"--set", fmt.Sprintf("input.split.share=%v", 1.0/folds), "--set", fmt.Sprintf("input.split.fold=%d", fold))
	if err != nil {
		return outcome{}, err
	}
	o := read(said)
	return o, o.err
}

// command runs ringtrain in a folder and returns what it prints.
func (t trainer) command(ctx context.Context, folder string, argv ...string) ([]byte, error) {
	program, err := filepath.Abs(t.program)
	if err != nil {
		return nil, err
	}
	cmd, said := exec.CommandContext(ctx, program, argv...), new(bytes.Buffer)
	cmd.Dir, cmd.Stderr = folder, said
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		err = fmt.Errorf("%s: %w: %s", argv[0], err, lines[len(lines)-1])
	}
	return out, err
}

// compare has scikit-learn's models trained on the same folds.
func (r *rawRow) compare(ctx context.Context, python string, about looked) error {
	question, err := json.Marshal(about)
	if err != nil {
		return err
	}
	cmd, said := exec.CommandContext(ctx, python, "-c", sklearnTable), new(bytes.Buffer)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(question), said
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("%s: %w: %s", python, err, lines[len(lines)-1])
	}
	var answer struct{ Linear, Trees []float64 }
	if err := json.Unmarshal(out, &answer); err != nil {
		return err
	}
	if r.linear, r.trees = answer.Linear, answer.Trees; len(r.linear) != folds || len(r.trees) != folds {
		return errors.New("scikit-learn has not answered each fold")
	}
	return nil
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// met reports whether the mean of the folds is within the bar of scikit-learn's linear model.
func (r rawRow) met() bool {
	if r.err != nil || len(r.ours) != folds {
		return false
	}
	if r.regression {
		return mean(r.ours) <= mostRMS*mean(r.linear)
	}
	return mean(r.ours) >= mean(r.linear)-mostAUC
}

// line returns the row of the table.
func (r rawRow) line() string {
	if r.err != nil {
		return fmt.Sprintf("| %s | FAILED (%v) | | | | SHORT |", r.name, r.err)
	}
	figure, state := "AUC", "SHORT"
	if r.regression {
		figure = "RMSE"
	}
	if r.met() {
		state = "met"
	}
	cell := func(all []float64) string {
		return fmt.Sprintf("%.4f (%.4f to %.4f)", mean(all), slices.Min(all), slices.Max(all))
	}
	return fmt.Sprintf("| %s: %d records | %s, %s | %s | %s | %s | %s |", r.name, r.records, r.kind, figure, cell(r.ours), cell(r.linear), cell(r.trees), state)
}

// rawTable returns the table of raw files as Markdown, "" without rows.
func rawTable(rows []rawRow) string {
	if len(rows) == 0 {
		return ""
	}
	lines := []string{"", "| raw files | init's model | ringtrain, mean of five folds | logistic or ridge regression | HistGradientBoosting | |", "| --- | --- | --- | --- | --- | --- |"}
	for _, r := range rows {
		lines = append(lines, r.line())
	}
	return strings.Join(lines, "\n") + "\n"
}
