package main

import (
	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

func inspectCommand() command {
	return command{
		name: "inspect", takes: words{1, 1, "a path"}, args: "PATH", usage: "what is in a checkpoint, a bundle or an event file",
		examples: []string{"ringtrain inspect ckpt/job", "ringtrain inspect export/job/1 --top 20"},
		flags:    []cli.Flag{option("top"), option("json")}, run: runInspect,
	}
}

func runInspect(a *app, c *cli.Context) error {
	events, err := inspect(c.Args().First(), c.Int("top"))
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
	return show.Inspected(a.stdout, events)
}

// inspect returns the content of a path, or the top largest weights if top is above 0.
func inspect(path string, top int) ([]report.Event, error) {
	if top > 0 {
		return trained.InspectTop(path, top)
	}
	return trained.Inspect(path)
}
