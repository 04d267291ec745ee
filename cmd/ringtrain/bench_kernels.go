package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/model/kernelbench"
	"ringtrain/ring/exitcode"
)

// runBenchKernels times the kernels of the models.
func runBenchKernels(a *app, c *cli.Context) error {
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
