package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"ringtrain/bench"
	"ringtrain/model/train"
	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

func benchCommand() command {
	return command{
		name: "bench", args: "allreduce", usage: "measure what the collectives do here",
		sub: []command{{
			name: "allreduce", args: "[-np N]", usage: "time and check all-reduce over a range of sizes",
			flags: benchAllReduceFlags(), run: (*app).benchAllReduce,
		}},
	}
}

// benchAllReduce measures as one rank, or with -np starts that many ranks of
// itself.
func (a *app) benchAllReduce(c *cli.Context) error {
	if err := wantArgs(c, 0, 0, "none"); err != nil {
		return err
	}
	config, err := benchConfig(c)
	if err != nil {
		return err
	}
	if n := c.Int("np"); n > 1 {
		return a.benchRanks(c, n)
	}
	place, err := launch.FindPlace(a.getenv, a.environ, placeFlagsOf(c))
	if err != nil {
		return err
	}
	out := a.newReporter(c, place.Rank)
	meet, err := a.meetConfig(c, out)
	if err != nil {
		return err
	}
	meet.Link, meet.Group = c.String("link"), ring.DefaultConfig()
	if meet.Group.Lossless, err = codec.ParseCompressor(c.String("lossless")); err != nil {
		return err
	}
	meet.Agree = []string{fmt.Sprintf("bench=%d-%d %s %d", config.MinBytes, config.MaxBytes, config.Codec, config.Iterations)}
	team, err := launch.Meet(a.ctx, place, meet)
	if err != nil {
		return out.fail(ring.CauseOf(err, place.Rank, hostname(), -1))
	}
	defer team.Close()
	return a.benchWith(team, config, out)
}

func (a *app) benchWith(team *launch.Team, config bench.AllReduceConfig, out *reporter) error {
	m := team.Group.Membership()
	out.rank, config.Link, config.Algorithm = m.Rank, team.Link, "ring"
	wrong := 0 // over all ranks
	if m.Rank == 0 && !out.json {
		fmt.Fprintln(a.stdout, bench.Header)
	}
	err := bench.AllReduce(team.Context(), team.Group, config, func(r bench.Row) error {
		wrong += r.Wrong
		switch {
		case m.Rank != 0:
		case out.json:
			out.writeJSON(r)
		default:
			fmt.Fprintln(a.stdout, r)
		}
		return nil
	})
	if err == nil {
		err = team.Leave(team.Context())
	}
	if err == nil && wrong > 0 {
		err = exitcode.With(exitcode.Internal, fmt.Errorf("%d elements are wrong", wrong))
	}
	if err != nil {
		return out.fail(team.Abort(ring.CauseOf(err, m.Rank, m.Self().Host, -1)))
	}
	return nil
}

// benchRanks starts n ranks of this command.
func (a *app) benchRanks(c *cli.Context, n int) error {
	self, err := os.Executable()
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	argv := []string{self, "bench", "allreduce"}
	for _, f := range benchAllReduceFlags() {
		if name := f.Names()[0]; c.IsSet(name) && !slices.Contains([]string{"np", "json", "rank", "world-size", "rendezvous"}, name) {
			argv = append(argv, fmt.Sprintf("--%s=%v", name, c.Value(name)))
		}
	}
	cfg := launch.Config{
		NP: n, Program: argv, Env: a.environ, Token: ring.NewToken(), Bare: true, JSON: wantsJSON(c, a.getenv),
		Stdout: a.stdout, Stderr: a.stderr,
	}
	res, err := a.launch(cfg, c.Duration("start-timeout"))
	if err != nil || res.Code == 0 {
		return err
	}
	return exitcode.With(res.Code, errors.New(res.Text))
}

func benchConfig(c *cli.Context) (bench.AllReduceConfig, error) {
	var config bench.AllReduceConfig
	var least, most train.Size
	job := train.DefaultJob()
	job.AllReduce.Codec, job.AllReduce.Link, job.AllReduce.Levels = c.String("codec"), c.String("link"), c.String("levels")
	job.AllReduce.Algorithm, job.AllReduce.Lossless = c.String("algorithm"), c.String("lossless")
	err := errors.Join(
		prefixed("--min", least.UnmarshalText([]byte(c.String("min")))),
		prefixed("--max", most.UnmarshalText([]byte(c.String("max")))),
		job.AllReduce.Check(),
	)
	if err != nil {
		return config, exitcode.With(exitcode.Usage, err)
	}
	config.Codec, err = codec.Parse(c.String("codec"))
	if err != nil {
		return config, err
	}
	config.MinBytes, config.MaxBytes, config.Iterations = int(least), int(most), c.Int("iters")
	return config, config.Check()
}

func prefixed(option string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %w", option, err)
}
