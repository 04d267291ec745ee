package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/bench/speed"
)

// Defaults of --rounds and --turn of these parts, and with --short. Each contender first
// warms up for trainWarm.
const (
	trainRounds = 5
	trainTurn   = 3 * time.Second
	trainWarm   = time.Second
	shortRounds = 3
	shortTurn   = time.Second
)

// benchPeersTrain compares training by ringtrain with other libraries.
func benchPeersTrain(a *app, c *cli.Context, suite speed.Suite) error {
	if err := refuse(c, "is for sums, not for --only "+c.String("only"), "hosts", "per-host", "rate"); err != nil {
		return err
	}
	config := speed.Config{
		Suite: suite, Rounds: trainRounds, Turn: trainTurn, Warm: trainWarm, Kernels: c.String("kernels"), Roots: dataRoots(c, a.getenv),
	}
	if cache, err := cacheDir(); err == nil {
		config.Roots = append(config.Roots, cache)
	}
	if c.Bool("short") {
		config.Rounds, config.Turn = shortRounds, shortTurn
	}
	if c.IsSet("rounds") {
		config.Rounds = c.Int("rounds")
	}
	if c.IsSet("turn") {
		config.Turn = c.Duration("turn")
	}
	config.Cases = casesOf(c)
	return compare(a, c, config)
}

// runBenchInput times the reading of each format by ringtrain and other libraries.
func runBenchInput(a *app, c *cli.Context) error {
	return compare(a, c, speed.Config{Suite: speed.Input, Rounds: c.Int("rounds"), Turn: trainTurn, Cases: casesOf(c)})
}

// casesOf returns the cases of --cases.
func casesOf(c *cli.Context) []string {
	if names := c.String("cases"); names != "" {
		return strings.Split(names, ",")
	}
	return nil
}

// compare compares training or reading.
func compare(a *app, c *cli.Context, config speed.Config) error {
	to, err := comparison(a, c)
	if err != nil {
		return err
	}
	return (&speed.Comparison{Output: to}).Run(a.ctx, config)
}
