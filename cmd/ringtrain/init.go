package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"ringtrain/input"
	"ringtrain/input/look"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

func initCommand() command {
	return command{
		name: "init", takes: words{1, -1, "at least one file"}, args: "FILE … [--label COLUMN] [--to JOB.yaml]", run: runInit, flags: initFlags(),
		usage:    "write a job file, with comments, from a look at files of records",
		about:    "Reads files of records once, finds their format and what each column is, and writes a job file in which each choice has a comment.",
		examples: []string{"ringtrain init churn.csv", "ringtrain init day_1.csv day_2.csv --label clicked --to clicks.yaml"},
	}
}

// runInit looks at files and writes a job file.
func runInit(a *app, c *cli.Context) error {
	to, create := c.String("to"), input.Create
	name := job.DraftName(c.Args().Slice())
	if to == "" {
		to, create = name+".yaml", input.CreateRaw // the name is one of the data: a link there is not followed
	} else {
		name = job.DraftName([]string{to})
	}
	if !job.IsName(to) {
		return exitcode.With(exitcode.Usage, fmt.Errorf("--to is %s, want a name that ends in .yaml", to))
	}
	out, err := create(to, c.Bool("force"))
	if errors.Is(err, fs.ErrExist) {
		return exitcode.With(exitcode.CannotCreate, fmt.Errorf("%w; --force writes over it, --to writes elsewhere", err))
	} else if err != nil {
		return err
	}
	defer out.Close()
	names, roots := c.Args().Slice(), dataRoots(c, a.getenv)
	here, err := placesOf(a).Here(a.ctx, roots[0], names...)
	if err != nil {
		return err
	}
	t, err := look.Look(a.ctx, look.Options{
		Names: names, Here: here, Roots: roots, Notice: a.notice,
		Label: c.String("label"), Number: c.Bool("regression"), Weight: c.String("weight"), Keys: c.StringSlice("key"),
	})
	if err != nil {
		return err
	}
	draft := job.Draft{Table: t, Name: name, Kind: c.String("kind")}
	text, _, err := draft.File()
	if err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	return a.newReporter(c, 0).Looked(t, to)
}
