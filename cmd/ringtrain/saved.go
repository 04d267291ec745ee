package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

func evalCommand() command {
	return command{
		name: "eval", args: "JOB [--from DIR]", usage: "metrics of a checkpoint or bundle on the job's validation records",
		examples: []string{"ringtrain eval mnist", "ringtrain eval job.yaml --from export/1 --json", "ringtrain eval churn.yaml --set input.eval.files=test.csv"},
		flags:    []cli.Flag{fromFlag(), dataFlag(), setFlag(), jsonFlag()}, run: (*app).eval,
	}
}

func predictCommand() command {
	return command{
		name: "predict", args: "JOB [FILE …] [--from DIR]", usage: "predictions for the validation records, or for those in files",
		examples: []string{"ringtrain predict job.yaml", "ringtrain predict job.yaml new.csv --from export/job --csv >scores.csv"},
		flags:    []cli.Flag{fromFlag(), dataFlag(), setFlag(), csvFlag(), jsonFlag()}, run: (*app).predict,
	}
}

func exportCommand() command {
	return command{
		name: "export", args: "JOB --from CKPT --to DIR", usage: "write a serving bundle from a checkpoint",
		examples: []string{"ringtrain export job.yaml --from ckpt/job/step-000500 --to export"},
		flags:    []cli.Flag{fromFlag(), toFlag(), dataFlag(), setFlag(), jsonFlag()}, run: (*app).export,
	}
}

// openSaved opens the checkpoint or bundle of --from for the job of the first word.
func (a *app) openSaved(c *cli.Context, files []string, labelled bool) (*trained.Model, error) {
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return nil, err
	}
	s, err := trained.Open(a.ctx, job, dataRoots(c, a.getenv), c.String("from"), files, labelled)
	if err == nil && s.Note != "" {
		fmt.Fprintln(a.stderr, s.Note)
	}
	return s, err
}

func (a *app) eval(c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "one job"); err != nil {
		return err
	}
	s, err := a.openSaved(c, nil, true)
	if err != nil {
		return err
	}
	defer s.Close()
	m, err := s.Evaluate(a.ctx)
	if err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	tell := func(m report.Metrics) {
		out.Event(m)
		show.MetricsTable(out.People, m)
	}
	tell(m)
	err = s.EvaluateOthers(a.ctx, tell)
	a.warnings(s, out)
	return err
}

// warnings tells what none of the records has, apart from what is asked for on standard output.
func (a *app) warnings(s *trained.Model, out *show.Reporter) {
	for _, w := range s.Warnings() {
		out.Emit(w)
		fmt.Fprintln(a.stderr, show.Sentence(w))
	}
}

func (a *app) predict(c *cli.Context) error {
	if err := wantArgs(c, 1, -1, "a job and files"); err != nil {
		return err
	}
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
	switch {
	case out.JSON && c.Bool("csv"):
		return exitcode.With(exitcode.Usage, errors.New("--csv and --json are given, want one of them"))
	case out.JSON:
		err = s.Predict(a.ctx, func(p trained.Prediction) error { out.Emit(p); return nil })
	case c.Bool("csv"):
		lines := csv.NewWriter(a.stdout)
		err = s.Predict(a.ctx, show.CSVPredictions(lines))
		lines.Flush() // also after an error, for the records before it
		err = cmp.Or(err, lines.Error())
	default:
		err = s.Predict(a.ctx, func(p trained.Prediction) error { return show.Prediction(a.stdout, p) })
	}
	a.warnings(s, out)
	return err
}

func (a *app) export(c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "one job"); err != nil {
		return err
	}
	to, out := c.String("to"), a.newReporter(c, 0)
	if _, err := folder.Nearest(to); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	s, err := a.openSaved(c, nil, false)
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := s.Export(to, func(operation, text string) { out.Event(report.Warning{Operation: operation, Cause: text}) })
	if err != nil {
		return err
	}
	out.Event(e)
	return nil
}
