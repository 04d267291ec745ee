package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/ring/exitcode"
)

// wholeStream is the value of RINGTRAIN_JSON for the ranks of a job that run reads.
const wholeStream = "stream"

// newReporter returns the reporter of this process by the options of its command.
func (a *app) newReporter(c *cli.Context, rank int) *show.Reporter {
	r := a.reporter(rank, c.Bool("json"))
	r.Quiet, r.Verbose = c.Bool("quiet"), c.Bool("verbose")
	if r.Verbose {
		show.All(a.out, a.rawErr)
	}
	return r
}

// reporter returns the reporter of this process.
func (a *app) reporter(rank int, json bool) *show.Reporter {
	r := a.out
	r.Rank, r.JSON, r.Stderr = rank, json || envWantsJSON(a.getenv), a.stderr
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
