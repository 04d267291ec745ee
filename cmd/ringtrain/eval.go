package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

func evalCommand() command {
	return command{
		name: "eval", takes: words{1, 1, "one job"}, args: "JOB [--from DIR] [--split NAME]", usage: "metrics of a checkpoint or bundle on the job's validation records",
		examples: []string{"ringtrain eval mnist", "ringtrain eval job.yaml --from export/1 --json", "ringtrain eval churn.yaml --set input.eval.files=test.csv"},
		flags:    []cli.Flag{option("from"), option("split"), option("data"), option("set"), option("json")}, run: runEval,
	}
}

// openSaved opens the checkpoint or bundle of --from for the job of the first word.
func (a *app) openSaved(c *cli.Context, e records.Evaluated) (*trained.Model, error) {
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return nil, err
	}
	s, err := trained.Open(a.ctx, job, dataRoots(c, a.getenv), c.String("from"), e)
	if err == nil && s.Note != "" {
		fmt.Fprintln(a.stderr, s.Note)
	}
	return s, err
}

func runEval(a *app, c *cli.Context) error {
	s, err := a.openSaved(c, records.Evaluated{Labelled: true, Split: c.String("split")})
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
	warnings(a, s, out)
	return err
}

// warnings tells what none of the records has, apart from what is asked for on standard output.
func warnings(a *app, s *trained.Model, out *show.Reporter) {
	for _, w := range s.Warnings() {
		out.Emit(w)
		fmt.Fprintln(a.stderr, show.Sentence(w))
	}
}
