package main

import (
	"github.com/urfave/cli/v2"

	"ringtrain/bench"
	"ringtrain/ring/exitcode"
)

// runBenchCodec measures the codecs, in cache and beyond it.
func runBenchCodec(a *app, c *cli.Context) error {
	out := a.newReporter(c, 0)
	out.Head(bench.CodecHeader)
	for _, bytes := range []int{bench.CodecInCache, bench.CodecBeyondCache} {
		err := bench.Codecs(bytes, func(r bench.CodecRow) error {
			out.Line(r)
			return nil
		})
		if err != nil {
			return exitcode.With(exitcode.Internal, err)
		}
	}
	return nil
}
