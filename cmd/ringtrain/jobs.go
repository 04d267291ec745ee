package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/model/train"
	"ringtrain/ring/exitcode"
)

func jobsCommand() command {
	return command{name: "jobs", args: "[show NAME]", usage: "the built-in jobs, or the file of one", run: (*app).jobs}
}

func (a *app) jobs(c *cli.Context) error {
	args := c.Args()
	switch {
	case args.Len() == 0:
		for _, name := range train.BuiltinJobs() {
			fmt.Fprintln(a.stdout, name)
		}
		return nil
	case args.Len() == 2 && args.First() == "show":
		text, ok := train.BuiltinJob(args.Get(1))
		if !ok {
			return exitcode.With(exitcode.Usage, fmt.Errorf("no built-in job %q, want one of %s", args.Get(1), strings.Join(train.BuiltinJobs(), ", ")))
		}
		_, err := a.stdout.Write(text)
		return err
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("jobs %s: want nothing or show NAME", strings.Join(args.Slice(), " ")))
}
