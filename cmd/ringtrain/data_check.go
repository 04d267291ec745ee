package main

import (
	"github.com/urfave/cli/v2"

	"ringtrain/model/train/records"
)

func dataCheckCommand() command {
	return command{
		name: "check", takes: words{1, 1, "one job"}, args: "JOB", examples: []string{"ringtrain data check job.yaml"}, run: runDataCheck, flags: []cli.Flag{option("data"), option("set"), option("json")},
		usage: "what a job's records have in each column, or of each class, what of them ends the job, and what is likely wrong",
	}
}

// runDataCheck prints a line for each column, or class of records without columns, and for each finding.
func runDataCheck(a *app, c *cli.Context) error {
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return err
	}
	report, err := records.Check(a.ctx, job, records.Options{Roots: dataRoots(c, a.getenv), Notice: a.notice})
	if err != nil {
		return err
	}
	if err := a.newReporter(c, 0).Checked(report); err != nil {
		return err
	}
	return report.Err()
}
