package main

import (
	"github.com/urfave/cli/v2"

	"ringtrain/bench/speed"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
)

// runBenchTrain times training of the presets on drawn records.
func runBenchTrain(a *app, c *cli.Context) error {
	self, err := process.Self()
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	a.ctx, _ = catchSignals(a.ctx, a.stderr)
	config := speed.TrainingConfig{
		Program: self, Models: c.Args().Slice(), Ranks: c.Int("np"), Measure: c.Duration("duration"), Warm: trainWarm, Sets: c.StringSlice("set"),
	}
	if err := config.Check(); err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	out.Head(speed.TrainingHeader)
	return speed.Train(a.ctx, config, func(t speed.Training) { out.Line(t) })
}
