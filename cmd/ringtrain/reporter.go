package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/ring/exitcode"
)

func (a *app) newReporter(c *cli.Context, rank int) *show.Reporter {
	r := &show.Reporter{Rank: rank, JSON: wantsJSON(c, a.getenv), Quiet: c.Bool("quiet"), Stdout: a.stdout, People: a.stdout, Stderr: a.stderr}
	if c.Bool("verbose") {
		show.All(a.rawOut, a.rawErr)
	}
	if r.JSON {
		r.People = a.stderr
	}
	return r
}

// wantOneVolume refuses --quiet together with --verbose.
func wantOneVolume(c *cli.Context) error {
	if c.Bool("quiet") && c.Bool("verbose") {
		return exitcode.With(exitcode.Usage, errors.New("--quiet and --verbose are given, want one of them"))
	}
	return nil
}
