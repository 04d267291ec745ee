package main

import (
	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

func inspectCommand() command {
	return command{
		name: "inspect", takes: words{1, 1, "a path"}, args: "PATH [--top N [--names JOB]]", usage: "what is in a checkpoint, a bundle or an event file",
		examples: []string{"ringtrain inspect ckpt/job", "ringtrain inspect export/job/1 --top 20", "ringtrain inspect ckpt/churn --top 20 --names churn.yaml"},
		flags: []cli.Flag{
			option("top"), &cli.StringFlag{Name: "names", Usage: "with --top, name hashed ids by their most frequent texts in the training records of a `JOB`"},
			option("data"), option("json"),
		},
		run: runInspect,
	}
}

func runInspect(a *app, c *cli.Context) error {
	read := trained.Inspect
	if top := c.Int("top"); top > 0 { // the largest weights instead of the content
		names, err := namesOf(a, c)
		if err != nil {
			return err
		}
		read = func(path string) ([]report.Event, error) { return trained.InspectTop(a.ctx, path, top, names) }
	} else if err := refuse(c, "is for --top", "names"); err != nil {
		return err
	}
	events, err := read(c.Args().First())
	if err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	if out.JSON {
		for _, e := range events {
			out.Emit(e)
		}
		return nil
	}
	return show.Inspected(show.Verbatim(a.out), events)
}

// namesOf returns what names hashed ids: the job of --names.
func namesOf(a *app, c *cli.Context) (trained.Names, error) {
	if !c.IsSet("names") {
		return trained.Names{}, nil
	}
	job, err := loadJob(c, a.environ, c.String("names"))
	return trained.Names{Job: job, Roots: dataRoots(c, a.getenv)}, err
}
