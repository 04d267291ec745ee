package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/input"
	"ringtrain/model/train/records"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

func predictCommand() command {
	return command{
		name: "predict", takes: words{1, -1, "a job, a checkpoint or a bundle, and files"}, args: "[JOB|CKPT|BUNDLE] [FILE …|-] [--from DIR] [--to FILE]",
		usage: "predictions for the validation records, or for those in files or of standard input (-)",
		examples: []string{"ringtrain predict job.yaml", "ringtrain predict job.yaml new.csv --from export/job >scores.csv",
			"ringtrain predict export/job - --to scores.jsonl <new.csv", "ringtrain predict --from models/other new.csv"},
		flags: predictFlags(), run: runPredict,
	}
}

// pipeWord is the file that is standard input.
const pipeWord = "-"

func runPredict(a *app, c *cli.Context) error {
	if c.Bool("json") && c.Bool("csv") {
		return exitcode.With(exitcode.Usage, errors.New("--csv and --json are given, want one of them"))
	}
	to, err := predictionsTo(c)
	if err != nil {
		return err
	}
	if to != nil {
		defer to.Close()
	}
	if !hasJob(c) {
		return predictByBundle(a, c, to)
	}
	if err := refuseWithoutBundle(c); err != nil {
		return err
	}
	e := records.Evaluated{Files: c.Args().Tail()}
	e.Pipe, err = pipeOf(e.Files)
	if err != nil {
		return err
	}
	s, err := a.openSaved(c, e)
	if err != nil {
		return err
	}
	defer s.Close()
	out := a.newReporter(c, 0)
	if c.NArg() == 1 && !out.JSON {
		records := "validation"
		if s.Split() == "train" {
			records = "training"
		}
		fmt.Fprintf(a.stderr, "scores of the job's %s records\n", records)
	}
	p, err := predictionsOf(a, c, show.FieldsOf(s.Form()), to)
	if err == nil {
		err = s.Predict(a.ctx, func(all []trained.Prediction) error { return p.Write(s.Form().Classes, all) })
	}
	if err == nil {
		err = p.Close()
	}
	if err == nil && to != nil {
		err = to.Commit()
	}
	warnings(a, s.Warnings(), out)
	return err
}

// pipeOf returns standard input if it is what files name, else nil.
func pipeOf(files []string) (io.Reader, error) {
	switch {
	case !slices.Contains(files, pipeWord):
		return nil, nil
	case len(files) > 1:
		return nil, exitcode.With(exitcode.Usage, errors.New("- is among the files, want standard input or files"))
	}
	return os.Stdin, nil
}

// predictionsTo creates the file of --to, nil if there is none.
func predictionsTo(c *cli.Context) (*input.Output, error) {
	name := c.String("to")
	if name == "" {
		return nil, nil
	}
	if plain := strings.TrimSuffix(name, ".gz"); !strings.HasSuffix(plain, ".csv") && !isJSONLines(plain) && !isParquet(name) {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--to is %s, want a name that ends in .csv, .jsonl or .parquet", name))
	}
	to, err := input.Create(name, c.Bool("force"))
	if errors.Is(err, fs.ErrExist) {
		err = exitcode.With(exitcode.CannotCreate, fmt.Errorf("%w; --force writes over it", err))
	}
	return to, err
}

func isJSONLines(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl")
}

func isParquet(name string) bool { return strings.HasSuffix(name, ".parquet") }

// predictionsOf returns what writes predictions: to a file, or to standard output.
func predictionsOf(a *app, c *cli.Context, f show.Fields, to *input.Output) (*show.Predictions, error) {
	switch {
	case to != nil && isJSONLines(c.String("to")):
		return show.JSONPredictions(to, f, false), nil
	case to != nil && isParquet(c.String("to")):
		return show.ParquetPredictions(to, f), nil
	case to != nil:
		return show.CSVPredictions(to, f)
	case wantsJSON(c, a.getenv):
		return show.JSONPredictions(a.dataOut(), f, true), nil
	}
	return show.CSVPredictions(a.dataOut(), f)
}
