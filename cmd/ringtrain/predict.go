package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/train/records"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

func predictCommand() command {
	return command{
		name: "predict", takes: words{1, -1, "a job and files"}, args: "JOB [FILE …] [--from DIR]", usage: "predictions for the validation records, or for those in files",
		examples: []string{"ringtrain predict job.yaml", "ringtrain predict job.yaml new.csv --from export/job --csv >scores.csv"},
		flags:    []cli.Flag{option("from"), option("data"), option("set"), option("csv"), option("json")}, run: runPredict,
	}
}

func runPredict(a *app, c *cli.Context) error {
	s, err := a.openSaved(c, records.Evaluated{Files: c.Args().Tail()})
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
	to := a.dataOut()
	switch {
	case out.JSON && c.Bool("csv"):
		return exitcode.With(exitcode.Usage, errors.New("--csv and --json are given, want one of them"))
	case out.JSON:
		err = s.Predict(a.ctx, func(p trained.Prediction) error { out.Emit(p); return nil })
	case c.Bool("csv"):
		lines, whole := csv.NewWriter(to), to == a.stdout
		write := show.CSVPredictions(lines)
		err = s.Predict(a.ctx, func(p trained.Prediction) error {
			err := write(p)
			if whole { // a terminal takes whole lines
				lines.Flush()
			}
			return err
		})
		lines.Flush() // also after an error, for the records before it
		err = cmp.Or(err, lines.Error())
	default:
		err = s.Predict(a.ctx, func(p trained.Prediction) error { return show.Prediction(to, p) })
	}
	warnings(a, s, out)
	return err
}
