package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/input/convert"
	"ringtrain/input/synth"
)

// clickLogOptions returns the names of these options that are set.
func clickLogOptions(c *cli.Context) []string {
	var set []string
	for _, f := range clickLogFlags() {
		if name := f.Names()[0]; c.IsSet(name) {
			set = append(set, name)
		}
	}
	return set
}

// dataMakeClickLog writes a click log and prints its files.
func dataMakeClickLog(a *app, c *cli.Context) error {
	log := convert.ClickLog{
		ClickLog: synth.ClickLog{
			Seed: c.Uint64("seed"), Rows: c.Int("rows"), IDs: c.Int("ids"), Fields: c.Int("fields"),
			Spread: c.Int("spread"), Interactions: c.Bool("interactions"),
		},
		TestRows: c.Int("test-rows"), Format: convert.FormatName(c.String("format")), Numbers: c.Int("numbers"),
	}
	if !c.IsSet("test-rows") {
		log.TestRows = max(1, log.Rows/10)
	}
	files, err := convert.MakeClicks(a.ctx, log, c.String("to"))
	for _, f := range files {
		fmt.Fprintln(a.dataOut(), f)
	}
	return err
}
