package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/model/kernelbench"
	"ringtrain/ring/exitcode"
)

func benchKernelsFlags() []cli.Flag {
	return []cli.Flag{
		jsonFlag(),
		&cli.IntFlag{Name: "threads", Value: 1, Usage: "`N` threads of each kernel"},
		&cli.StringFlag{Name: "kernels", Usage: "kernel `SETS`, as in portable,avx2 (default: all that the machine has)"},
		&cli.StringFlag{Name: "only", Usage: "`PART` of the table: squares, models"},
		&cli.StringFlag{Name: "sizes", Usage: "`LENGTHS` of the squares (default: 64 to 1024)"},
		&cli.DurationFlag{Name: "budget", Value: 100 * time.Millisecond, Usage: "`TIME` of each row"},
	}
}

// benchKernels times the kernels of the models.
func (a *app) benchKernels(c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "none"); err != nil {
		return err
	}
	config := kernelbench.Config{Threads: c.Int("threads"), Budget: c.Duration("budget"), Only: c.String("only")}
	if names := c.String("kernels"); names != "" {
		config.Sets = strings.Split(names, ",")
	}
	if sizes := c.String("sizes"); sizes != "" {
		for word := range strings.SplitSeq(sizes, ",") {
			n, err := strconv.Atoi(word)
			if err != nil {
				return exitcode.With(exitcode.Usage, fmt.Errorf("--sizes is %s, want whole numbers with commas between", sizes))
			}
			config.Sizes = append(config.Sizes, n)
		}
	}
	if err := config.Check(); err != nil {
		return exitcode.With(exitcode.Usage, err)
	}
	out := a.newReporter(c, 0)
	out.Head(kernelbench.Header)
	return kernelbench.Run(config, func(r kernelbench.Row) { out.Line(r) })
}
