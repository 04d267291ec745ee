package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/launch/place"
)

// findPlace returns this process's place among the ranks, from the command line, the
// environment and the launcher.
func (a *app) findPlace(c *cli.Context) (place.Place, error) {
	p, err := place.Find(a.getenv, a.environ, placeFlagsOf(c))
	if err != nil {
		return p, err
	}
	return p.Learn(a.ctx, place.LearnOptions{
		Timeout: c.Duration("start-timeout"),
		Notice:  a.notice,
	})
}

// needed prints the notices about a place, and reports whether the job needs this
// process.
func (a *app) needed(p place.Place) bool {
	for _, notice := range p.Notices {
		fmt.Fprintln(a.stderr, notice)
	}
	if p.NotNeeded != "" {
		fmt.Fprintln(a.stderr, p.NotNeeded)
	}
	return p.NotNeeded == ""
}
