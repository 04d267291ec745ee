package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/bench"
	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/job"
	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
)

// runBenchAllReduce measures as one rank, or with -np or hosts starts the ranks.
func runBenchAllReduce(a *app, c *cli.Context) error {
	config, err := benchConfig(c)
	if err != nil {
		return err
	}
	meet := join.Config{Link: c.String("link"), Levels: c.String("levels"), Security: c.String("security"), Group: ring.DefaultConfig()}
	if meet.Group.Lossless, err = codec.ParseCompressor(c.String("lossless")); err != nil {
		return fmt.Errorf("--lossless: %w", err)
	}
	if meet.Group.Algorithm, err = ring.ParseAlgorithm(c.String("algorithm")); err != nil {
		return fmt.Errorf("--%w", err)
	}
	meet.Agree = benchAgree("sizes", config.Sizes, "codec", config.Codecs, "iters", config.Iterations, "budget", config.Budget,
		"batch", config.BatchBytes, "in-place", config.InPlace, "algorithm", meet.Group.Algorithm, "lossless", c.String("lossless"),
		"link", meet.Link, "levels", meet.Levels, "security", meet.Security)
	config.Before = bench.Footprint()
	team, out, err := a.benchTeam(c, "allreduce", meet, benchSumFlags())
	if err != nil || team == nil {
		return err
	}
	defer team.Close()
	config.Link = team.Link
	if out.Rank == 0 && !team.Group.Compresses() && c.String("codec") != "none" {
		fmt.Fprintf(a.stderr, "codec %s is not used: there is no wire between the ranks (--levels flat makes one)\n", c.String("codec"))
	}
	return endBench(team, out, benchSums(team, config, out))
}

// benchSums prints the table. A wrong element is an error once all is printed.
func benchSums(team *join.Team, config bench.AllReduceConfig, out *show.Reporter) error {
	wrong := 0 // over all ranks
	out.Head(bench.Header)
	memory, err := bench.AllReduce(team.Context(), team.Group, config, func(r bench.Row) error {
		wrong += r.Wrong
		out.Line(r)
		return nil
	})
	if err != nil {
		return err
	}
	out.Line(memory)
	if wrong > 0 {
		return exitcode.With(exitcode.Internal, fmt.Errorf("%d elements are wrong", wrong))
	}
	return nil
}

// sizeTimes is the factor from one size of a table to the next.
const sizeTimes = 2

func benchConfig(c *cli.Context) (bench.AllReduceConfig, error) {
	config := bench.AllReduceConfig{Iterations: c.Int("iters"), Budget: c.Duration("budget"), InPlace: c.Bool("in-place")}
	cfg := job.Default()
	cfg.AllReduce.Link, cfg.AllReduce.Levels, cfg.AllReduce.Security = c.String("link"), c.String("levels"), c.String("security")
	errs := []error{asOptions(cfg.AllReduce.Check(), "link", "levels", "security")}
	var err error
	config.Sizes, err = sizesOf(c, sizeTimes)
	errs = append(errs, err)
	config.BatchBytes, err = byteCount("--batch", c.String("batch"))
	errs = append(errs, err)
	for name := range strings.SplitSeq(c.String("codec"), ",") {
		cd, err := codec.Parse(name)
		if err != nil {
			err = fmt.Errorf("--codec: %w", err)
		}
		config.Codecs, errs = append(config.Codecs, cd), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return config, exitcode.With(exitcode.Usage, err)
	}
	return config, config.Check()
}
