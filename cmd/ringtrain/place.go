package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/launch"
)

// findPlace returns this process's place among the ranks: from the command line
// and the environment, and what those do not hold from the launcher.
func (a *app) findPlace(c *cli.Context) (launch.Place, error) {
	place, err := launch.FindPlace(a.getenv, a.environ, placeFlagsOf(c))
	if err != nil {
		return place, err
	}
	return place.Learn(a.ctx, launch.LearnConfig{
		Timeout: c.Duration("start-timeout"),
		Notice:  func(line string) { fmt.Fprintln(a.stderr, line) },
	})
}

// needed tells people what is odd about a place, and whether the job needs this
// process at all.
func (a *app) needed(p launch.Place) bool {
	for _, notice := range p.Notices {
		fmt.Fprintln(a.stderr, notice)
	}
	if p.NotNeeded != "" {
		fmt.Fprintln(a.stderr, p.NotNeeded)
	}
	return p.NotNeeded == ""
}
