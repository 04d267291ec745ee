package main

import (
	"errors"
	"fmt"
	"io"
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
		name: "predict", takes: words{1, -1, "a job and files"}, args: "JOB [FILE …|-] [--from DIR] [--to FILE]",
		usage: "predictions for the validation records, or for those in files or of standard input (-)",
		examples: []string{"ringtrain predict job.yaml", "ringtrain predict job.yaml new.csv --from export/job >scores.csv",
			"ringtrain predict job.yaml - --to scores.jsonl <new.csv"},
		flags: predictFlags(), run: runPredict,
	}
}

// pipeWord is the file that is standard input.
const pipeWord = "-"

func runPredict(a *app, c *cli.Context) error {
	if c.Bool("json") && c.Bool("csv") {
		return exitcode.With(exitcode.Usage, errors.New("--csv and --json are given, want one of them"))
	}
	e := records.Evaluated{Files: c.Args().Tail()}
	switch {
	case len(e.Files) > 1 && slices.Contains(e.Files, pipeWord):
		return exitcode.With(exitcode.Usage, errors.New("- is among the files, want standard input or files"))
	case len(e.Files) == 1 && e.Files[0] == pipeWord:
		e.Pipe = os.Stdin
	}
	to, err := predictionsTo(c)
	if err != nil {
		return err
	}
	if to != nil {
		defer to.Close()
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
	p, err := a.predictions(c, out, s.Form(), to)
	if err == nil {
		err = s.Predict(a.ctx, p.Write)
	}
	if err == nil && to != nil {
		err = to.Commit()
	}
	warnings(a, s, out)
	return err
}

// predictionsTo creates the file of --to, nil if there is none.
func predictionsTo(c *cli.Context) (*input.Output, error) {
	name := c.String("to")
	if name == "" {
		return nil, nil
	}
	if plain := strings.TrimSuffix(name, ".gz"); !strings.HasSuffix(plain, ".csv") && !isJSONLines(plain) {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--to is %s, want a name that ends in .csv or .jsonl", name))
	}
	to, err := input.Create(name, c.Bool("force"))
	if exitcode.Of(err) == exitcode.CannotCreate {
		err = exitcode.With(exitcode.CannotCreate, fmt.Errorf("%w; --force writes over it", err))
	}
	return to, err
}

func isJSONLines(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl")
}

// predictions returns what writes predictions: to a file, or to standard output.
func (a *app) predictions(c *cli.Context, out *show.Reporter, f trained.Form, to *input.Output) (*show.Predictions, error) {
	var w io.Writer = to
	switch {
	case to != nil && isJSONLines(c.String("to")):
		return show.JSONPredictions(w, f, false), nil
	case to != nil:
		return show.CSVPredictions(w, f)
	case out.JSON:
		return show.JSONPredictions(out.Stdout, f, true), nil
	}
	return show.CSVPredictions(a.dataOut(), f)
}
