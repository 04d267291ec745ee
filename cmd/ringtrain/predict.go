package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

func predictCommand() command {
	return command{
		name: "predict", takes: words{1, -1, "a job and files"}, args: "JOB [FILE …] [--from DIR]", usage: "predictions for the validation records, or for those in files",
		examples: []string{"ringtrain predict job.yaml", "ringtrain predict job.yaml new.csv --from export/job --csv >scores.csv"},
		flags:    []cli.Flag{option("from"), option("data"), option("set"), option("csv"), option("json")}, run: runPredict,
	}
}

func runPredict(a *app, c *cli.Context) error {
	s, err := a.openSaved(c, c.Args().Tail(), false)
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
	onTerminal := show.IsTerminal(a.rawOut)
	predict := func(write func(trained.Prediction) error) error {
		return s.Predict(a.ctx, func(p trained.Prediction) error {
			if onTerminal && p.Key != nil {
				p.Key = new(phrase.Foreign(*p.Key, phrase.MaxText))
			}
			return write(p)
		})
	}
	switch {
	case out.JSON && c.Bool("csv"):
		return exitcode.With(exitcode.Usage, errors.New("--csv and --json are given, want one of them"))
	case out.JSON:
		err = predict(func(p trained.Prediction) error { out.Emit(p); return nil })
	case c.Bool("csv"):
		lines := csv.NewWriter(a.rawOut)
		err = predict(show.CSVPredictions(lines))
		lines.Flush() // also after an error, for the records before it
		err = cmp.Or(err, lines.Error())
	default:
		err = predict(func(p trained.Prediction) error { return show.Prediction(a.rawOut, p) })
	}
	warnings(a, s, out)
	return err
}
