package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/input/convert"
	"ringtrain/input/synth"
)

// clickLogFlags describes a click log. Without any of these options data make clicks
// writes the records of a job with input.synthetic.
func clickLogFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "rows", Value: 500000, Usage: "clicks: `N` records, drawn in memory that does not grow with N"},
		&cli.IntFlag{Name: "test-rows", Usage: "clicks: `N` records of the second file (default: a tenth of --rows)"},
		&cli.IntFlag{Name: "ids", Value: 1000000, Usage: "clicks: `M` distinct ids over all fields"},
		&cli.IntFlag{Name: "fields", Value: 39, Usage: "clicks: `F` ids a record, one of each field"},
		&cli.IntFlag{Name: "spread", Value: 1, Usage: "clicks: id k is written as k times `S`: the same log over a larger table"},
		&cli.BoolFlag{Name: "interactions", Usage: "clicks: labels depend on pairs of ids, as in a factorization machine"},
		&cli.StringFlag{Name: "format", Value: "libsvm", Usage: "clicks: " + strings.Join(convert.Names(convert.Format.IsDrawn), ", ")},
		&cli.IntFlag{Name: "numbers", Usage: "clicks, csv: the first `N` fields are columns of numbers, I1 to IN"},
	}
}

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
func (a *app) dataMakeClickLog(c *cli.Context) error {
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
		fmt.Fprintln(a.stdout, f)
	}
	return err
}
