package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/export/checkpoint"
	"ringtrain/export/history"
	"ringtrain/export/page"
	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

func reportCommand() command {
	return command{
		name: "report", takes: words{1, -1, "a run or several"}, args: "RUN … [-o FILE]", run: runReport,
		usage:    "one HTML page of a run, or of several side by side",
		about:    "Writes one HTML page of what a run did: curves, the time of a step, its ranks, faults, checkpoints, evaluations. RUN is a job, a folder of checkpoints, its history.jsonl, or a file of lines that --json has written. Several runs share their plots, and a table has their results and the options that differ. The page has all inside and makes no request. A run that goes on, has failed or has made no step has a page, too.",
		examples: []string{"ringtrain report mnist", "ringtrain report ckpt/small ckpt/large -o both.html"},
		flags:    []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "report.html", Usage: "`FILE` to write, or - for standard output"}},
	}
}

func runReport(a *app, c *cli.Context) error {
	var runs []*history.Run
	for _, word := range c.Args().Slice() {
		run, err := readRun(c, a.environ, word)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(runs, func(r *history.Run) bool { return r.Name == run.Name }) {
			run.Name = run.Path
		}
		runs = append(runs, run)
	}
	if c.String("output") == pipeWord {
		return page.Report(a.dataOut(), runs)
	}
	out, err := input.Create(c.String("output"), true)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := page.Report(out, runs); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s has %s\n", c.String("output"), phrase.Count(len(runs), "run"))
	return nil
}

// freshTime is the age of the newest of saved lines up to which their run is taken to go on: nobody knows.
const freshTime = 30 * time.Second

// readRun reads the run that a word names: a job by its folder of checkpoints.
func readRun(c *cli.Context, environ []string, word string) (*history.Run, error) {
	path := word
	if job.IsName(word) {
		cfg, err := loadJob(c, environ, word)
		if err != nil {
			return nil, err
		}
		if path = cfg.Checkpoint.Dir; path == "" {
			return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("%s: no history: the job has no checkpoint.dir; lines that --json has written can be read", word))
		}
	}
	run, err := history.Read(path)
	if err != nil {
		return nil, err
	}
	if filepath.Base(run.Path) == history.File {
		_, run.Running = checkpoint.Holder(filepath.Dir(run.Path))
	} else {
		run.Running = time.Since(run.Events[len(run.Events)-1].Time) < freshTime
	}
	return run, nil
}
