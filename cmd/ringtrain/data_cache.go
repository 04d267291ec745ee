package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"ringtrain/model/train/records"
)

func dataCacheCommand() command {
	return command{
		name: "cache", args: "JOB", examples: []string{"ringtrain data cache job.yaml"}, run: (*app).dataCache, flags: []cli.Flag{dataFlag(), setFlag()},
		usage: "parse the text of a job ahead, where input.cache keeps its records",
	}
}

// dataCache makes the caches of a job and prints a line for each.
func (a *app) dataCache(c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "one job"); err != nil {
		return err
	}
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return err
	}
	ctx, _ := catchSignals(a.ctx, a.stderr)
	made, err := records.MakeCaches(ctx, job, records.Options{
		Roots: dataRoots(c, a.getenv), CacheDir: recordsDir(), Notice: func(line string) { fmt.Fprintln(a.stderr, line) },
	})
	for _, m := range made {
		fmt.Fprintf(a.stdout, "%s: %d records in %s\n", m.Key, m.Records, m.Name)
	}
	return err
}

// recordsDir returns the folder of parsed records for input.cache auto, "" if the user
// has no cache folder.
func recordsDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ringtrain", "records")
}
