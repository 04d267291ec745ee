package main

import (
	"github.com/urfave/cli/v2"

	"ringtrain/bench"
	"ringtrain/ring"
	"ringtrain/ring/join"
)

// copyTimes is the factor from one size of the copied buffers to the next.
const copyTimes = 4

// runBenchLink measures the limits as one rank, or with -np or hosts starts the ranks.
func runBenchLink(a *app, c *cli.Context) error {
	sizes, err := sizesOf(c, copyTimes)
	if err != nil {
		return err
	}
	config := bench.LinkConfig{Sizes: sizes, Duration: c.Duration("duration"), Only: c.String("only")}
	if err := config.Check(); err != nil {
		return err
	}
	meet := join.Config{Link: "auto", Group: ring.DefaultConfig()}
	meet.Agree = benchAgree("sizes", config.Sizes, "duration", config.Duration, "only", config.Only)
	team, out, err := a.benchTeam(c, "link", meet, benchLinkFlags())
	if err != nil || team == nil {
		return err
	}
	defer team.Close()
	out.Head(bench.LimitHeader)
	err = bench.Link(team.Context(), team.Group, config, func(l bench.Limit) error {
		out.Line(l)
		return nil
	})
	return endBench(team, out, err)
}
