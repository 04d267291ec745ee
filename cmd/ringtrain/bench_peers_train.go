package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/bench/speed"
	"ringtrain/ring/exitcode"
)

// partTrain is the part of bench peers that times training.
const partTrain = "train"

// Defaults of --rounds and --turn under --only train, and under --short. Each contender warms up
// for trainWarm first.
const (
	trainRounds = 5
	trainTurn   = 3 * time.Second
	trainWarm   = time.Second
	shortRounds = 3
	shortTurn   = time.Second
)

// benchPeersTrain holds a training step of ringtrain against other libraries.
func (a *app) benchPeersTrain(c *cli.Context) error {
	if err := refuse(c, "is for sums, not for --only train", "hosts", "per-host", "rate"); err != nil {
		return err
	}
	config := speed.Config{
		Rounds: trainRounds, Turn: trainTurn, Warm: trainWarm, Kernels: c.String("kernels"), Roots: dataRoots(c, a.getenv),
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
	if names := c.String("cases"); names != "" {
		config.Cases = strings.Split(names, ",")
	}
	self, err := os.Executable()
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	a.ctx, _ = catchSignals(a.ctx)
	out := a.newReporter(c, 0)
	p := &speed.Comparison{
		Program: self,
		Print:   func(line string) { fmt.Fprintln(out.people, line) },
		Say:     func(line string) { fmt.Fprintln(a.stderr, line) },
	}
	if out.json {
		p.Event = out.writeJSON
	}
	return p.Run(a.ctx, config)
}
