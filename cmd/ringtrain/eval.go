package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

func evalCommand() command {
	return command{
		name: "eval", takes: words{1, -1, "a job, a checkpoint or a bundle, and files"}, args: "[JOB|CKPT|BUNDLE] [FILE …] [--from DIR] [--split NAME]", usage: "metrics of a checkpoint or bundle on the job's validation records, or on those in files",
		examples: []string{"ringtrain eval mnist", "ringtrain eval job.yaml --from export/1 --json", "ringtrain eval churn.yaml test.csv", "ringtrain eval --from models/other test.csv --label y"},
		flags: append([]cli.Flag{
			option("from"), option("split"),
			&cli.BoolFlag{Name: "importance", Usage: "also how much worse loss and AUC become if the cells of a column are permuted: mean and deviation of three permutations of each"},
			&cli.IntFlag{Name: "sample", Value: 100_000, Usage: "permute the cells of at most `N` records"},
			&cli.StringFlag{Name: "label", Usage: "without a job: the `COLUMN` of the labels (default: the one that the bundle names)"},
			option("data"), option("set"), option("json"),
		}, bundleFlags()...),
		run: runEval,
	}
}

// openSaved opens the checkpoint or bundle of --from for the job of the first word; or the one that the first word is, by
// the job file that it keeps.
func (a *app) openSaved(c *cli.Context, e records.Evaluated) (*trained.Model, error) {
	s, err := openBy(a, c, c.Args().First(), e)
	if err == nil && s.Note != "" {
		fmt.Fprintln(a.stderr, s.Note)
	}
	return s, err
}

func openBy(a *app, c *cli.Context, word string, e records.Evaluated) (*trained.Model, error) {
	roots := dataRoots(c, a.getenv)
	if job.IsName(word) || !trained.IsSaved(word) {
		cfg, err := loadJob(c, a.environ, word)
		if err != nil {
			return nil, err
		}
		return trained.Open(a.ctx, cfg, roots, c.String("from"), e)
	}
	if c.IsSet("from") {
		return nil, refuse(c, "is for a job or a file of records, and "+word+" is a folder or a checkpoint", "from")
	}
	return trained.OpenOwn(a.ctx, word, roots, e, func(name string, text []byte) (*job.Config, error) {
		return job.LoadStored(name, text, a.environ, c.StringSlice("set"))
	})
}

func runEval(a *app, c *cli.Context) error {
	if !hasJob(c) {
		return evalByBundle(a, c)
	}
	if err := refuseWithoutBundle(c); err != nil {
		return err
	}
	importance := c.Bool("importance")
	if !importance && c.IsSet("sample") {
		return refuse(c, "is for --importance", "sample")
	}
	files := c.Args().Tail()
	if len(files) > 0 && c.IsSet("split") {
		return refuse(c, "names records of the job, and files are given", "split")
	}
	s, err := a.openSaved(c, records.Evaluated{Files: files, Labelled: true, Split: c.String("split"), Cells: importance})
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
	if len(files) == 0 && !c.IsSet("split") {
		err = s.EvaluateOthers(a.ctx, tell)
	}
	warnings(a, s.Warnings(), out)
	if err != nil || !importance {
		return err
	}
	columns, err := s.Importance(a.ctx, c.Int("sample"))
	if err != nil {
		return err
	}
	for _, i := range columns {
		out.Emit(i)
	}
	show.ImportanceTable(out.People, columns)
	return nil
}

// warnings tells what none of the records has, apart from what is asked for on standard output.
func warnings(a *app, all []report.Warning, out *show.Reporter) {
	for _, w := range all {
		out.Emit(w)
		fmt.Fprintln(a.stderr, show.Sentence(w))
	}
}
