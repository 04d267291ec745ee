package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring/folder"
)

func exportCommand() command {
	return command{
		name: "export", takes: words{1, 1, "one job"}, args: "JOB --from CKPT --to DIR", usage: "write a serving bundle from a checkpoint",
		examples: []string{"ringtrain export job.yaml --from ckpt/job/step-000500 --to export"},
		flags:    []cli.Flag{option("from"), option("to"), option("data"), option("set"), option("json")}, run: runExport,
	}
}

func runExport(a *app, c *cli.Context) error {
	to, out := c.String("to"), a.newReporter(c, 0)
	if _, err := folder.Nearest(to); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	s, err := a.openSaved(c, records.Evaluated{Proves: true})
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := s.Export(a.ctx, to, func(operation, text string) { out.Event(report.Warning{Operation: operation, Cause: text}) })
	if err != nil {
		return err
	}
	out.Event(e)
	return nil
}
