package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/train/records"
)

func dataStatsCommand() command {
	return command{
		name: "stats", takes: words{1, 1, "one job"}, args: "JOB", examples: []string{"ringtrain data stats job.yaml"}, run: runDataStats, flags: []cli.Flag{option("data"), option("set"), option("json")},
		usage: "what a job's training records have in each column",
	}
}

// runDataStats prints a line for each column.
func runDataStats(a *app, c *cli.Context) error {
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return err
	}
	all, err := records.StatsOfColumns(a.ctx, job, records.Options{Roots: dataRoots(c, a.getenv), Notice: func(line string) { fmt.Fprintln(a.stderr, line) }})
	if err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	if out.JSON {
		for _, s := range all {
			out.Emit(s)
		}
		return nil
	}
	return show.Columns(a.stdout, all)
}
