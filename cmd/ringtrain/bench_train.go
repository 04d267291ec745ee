package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/bench/speed"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
)

func benchTrainFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "np", Aliases: []string{"n"}, Value: 1, Usage: "`N` ranks on this host"}, jsonFlag(),
		&cli.DurationFlag{Name: "duration", Value: 3 * time.Second, Usage: "`TIME` that each model is timed for, after a second that is not"},
		setFlag(),
	}
}

// benchTrain times training of the presets on drawn records.
func (a *app) benchTrain(c *cli.Context) error {
	var err error
	if d := c.Duration("duration"); d <= 0 {
		err = exitcode.With(exitcode.Usage, fmt.Errorf("--duration is %v, want more than 0", d))
	}
	if n := c.Int("np"); n < 1 {
		err = errors.Join(err, exitcode.With(exitcode.Usage, fmt.Errorf("-np is %d, want 1 or more", n)))
	}
	if err != nil {
		return exitcode.With(exitcode.Usage, err)
	}
	self, err := process.Self()
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	a.ctx, _ = catchSignals(a.ctx)
	config := speed.TrainingConfig{
		Program: self, Models: c.Args().Slice(), Ranks: c.Int("np"), Measure: c.Duration("duration"), Warm: trainWarm, Sets: c.StringSlice("set"),
	}
	if err := config.Check(); err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	out.head(speed.TrainingHeader)
	return speed.Train(a.ctx, config, func(t speed.Training) { out.line(t) })
}
