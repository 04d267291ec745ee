package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/input/cache"
	"ringtrain/input/convert"
	"ringtrain/input/remote"
	"ringtrain/model/train/records"
	"ringtrain/ring/exitcode"
)

func dataCacheCommand() command {
	return command{
		name: "cache", takes: words{0, 1, "one job"}, args: "JOB", examples: []string{"ringtrain data cache job.yaml", "ringtrain data cache --prune"}, run: runDataCache,
		usage: "parse the text of a job ahead, where input.cache keeps its records",
		flags: []cli.Flag{option("data"), option("set"), option("prune")},
	}
}

// runDataCache makes the caches of a job and prints a line for each.
func runDataCache(a *app, c *cli.Context) error {
	if c.Bool("prune") {
		return pruneCaches(a, c)
	}
	if c.NArg() == 0 {
		return exitcode.With(exitcode.Usage, errors.New("nothing is given, want one job, or --prune; see ringtrain data cache --help"))
	}
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return err
	}
	ctx, _ := catchSignals(a.ctx, a.stderr)
	made, err := records.MakeCaches(ctx, job, records.Options{
		Roots: dataRoots(c, a.getenv), CacheDir: records.CacheDir(), Notice: a.notice,
	})
	for _, m := range made {
		fmt.Fprintf(a.stdout, "%s: %d records in %s\n", m.Key, m.Records, m.Name)
	}
	return err
}

// pruneCaches removes the caches of files that are gone, and prints a line for each.
func pruneCaches(a *app, c *cli.Context) error {
	dir := records.CacheDir()
	if c.NArg() > 0 {
		job, err := loadJob(c, a.environ, c.Args().First())
		if err != nil {
			return err
		}
		if in := job.Input.Cache; in != convert.CacheAuto && in != convert.CacheOff {
			dir = in
		}
	}
	told := func(line string) { fmt.Fprintln(a.stdout, line) }
	return errors.Join(cache.Prune(dir, told, a.notice), remote.Prune(remote.Dir(dir), told, a.notice))
}
