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
	read := trained.Inspect
	if top := c.Int("top"); top > 0 { // the largest weights instead of the content
		read = func(path string) ([]report.Event, error) { return trained.InspectTop(path, top) }
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
	return show.Inspected(a.stdout, events)
}
