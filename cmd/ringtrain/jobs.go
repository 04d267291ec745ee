package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

func jobsCommand() command {
	return command{name: "jobs", takes: anyWords, args: "[show NAME [--layers] | explain [KEY] | schema]", usage: "the built-in jobs and the kinds of models, the file of a job, what a key is for, a JSON Schema of job files",
		examples: []string{"ringtrain jobs", "ringtrain jobs show mnist >job.yaml", "ringtrain jobs explain input.cache", "ringtrain jobs explain optimizer", "ringtrain jobs explain input.columns.numeric", "ringtrain jobs schema >job.schema.json"},
		flags:    []cli.Flag{option("layers")}, run: runJobs}
}

func runJobs(a *app, c *cli.Context) error {
	args := c.Args()
	switch {
	case args.Len() == 0 && c.Bool("layers"):
		return exitcode.With(exitcode.Usage, errors.New("--layers wants the name of a job or of a kind of model: jobs show NAME --layers"))
	case args.Len() == 0:
		fmt.Fprintln(a.stdout, "jobs (ringtrain run -np 4 NAME):")
		for _, name := range job.BuiltinNames() {
			fmt.Fprintf(a.stdout, "  %-14s %s\n", name, job.BuiltinUsage(name))
		}
		fmt.Fprintln(a.stdout, "kinds of models (--set model.kind=NAME):")
		for _, p := range model.Presets() {
			fmt.Fprintf(a.stdout, "  %-14s %s\n", p[0], p[1])
		}
		return nil
	case args.Len() == 2 && args.First() == "show" && c.Bool("layers"):
		text, err := job.SpellLayers(args.Get(1))
		if err != nil {
			return err
		}
		_, err = a.dataOut().Write(text)
		return err
	case args.Len() == 1 && args.First() == "schema":
		text, err := job.Schema()
		if err != nil {
			return err
		}
		_, err = a.dataOut().Write(append(text, '\n'))
		return err
	case args.First() == "explain" && args.Len() <= 2:
		return explain(a, args.Get(1))
	case args.Len() == 2 && args.First() == "show":
		text, ok := job.Builtin(args.Get(1))
		if !ok {
			return exitcode.With(exitcode.Usage, fmt.Errorf("no built-in job %q, want one of %s", args.Get(1), strings.Join(job.BuiltinNames(), ", ")))
		}
		_, err := a.dataOut().Write(text)
		return err
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("jobs %s: want jobs, jobs show NAME, jobs explain KEY or jobs schema", strings.Join(args.Slice(), " ")))
}

// explain prints the purpose of the key name, or the keys of a group; "" means all keys.
func explain(a *app, name string) error {
	texts, err := job.About(name)
	if err != nil {
		return err
	}
	for i, k := range texts {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		head := k.Key + ": " + k.Takes
		if k.Default != "" {
			head += " (default: " + k.Default + ")"
		}
		fmt.Fprintln(a.stdout, head)
		printText(a.stdout, "  ", k.Text)
	}
	return nil
}
