package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// loadJob loads the job called name with the options of the command line.
func loadJob(c *cli.Context, environ []string, name string) (*job.Config, error) {
	sets := c.StringSlice("set")
	var short []string
	for _, option := range []string{"link", "codec", "security"} {
		if c.IsSet(option) {
			sets, short = append(sets, "allreduce."+option+"="+c.String(option)), append(short, option)
		}
	}
	config, err := job.Load(name, environ, sets)
	return config, asOptions(err, short...)
}

// asOptions returns err with the names of options in place of the keys that they are short for:
// --link for allreduce.link.
func asOptions(err error, options ...string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, option := range options {
		text = strings.ReplaceAll(text, "allreduce."+option+" is ", "--"+option+" is ")
	}
	if text == err.Error() {
		return err
	}
	return exitcode.With(exitcode.Usage, errors.New(text))
}

// checkJob loads the job of ranks that all run on this host, as each of them will. So a fault of the
// job is told once, before any rank starts. It leaves the check to the ranks where they may find
// another file, on other hosts or in --wdir, or where a file can be read only once, such as a pipe: then
// it returns no job.
func checkJob(c *cli.Context, cfg *launch.Config) (*job.Config, error) {
	name := c.Args().First()
	if !job.IsName(name) || cfg.Remote() || cfg.Dir != "" {
		return nil, nil
	}
	if readsOnce(name) {
		return nil, nil
	}
	options, err := loadJob(c, slices.Concat(cfg.Env, cfg.Export), name)
	if err != nil {
		return nil, err
	}
	return options, options.CheckLabel()
}

// readsOnce reports whether a job file can be read only once.
func readsOnce(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}
