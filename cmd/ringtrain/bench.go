package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/bench"
	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/job"
	"ringtrain/model/train"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/rendezvous"
)

func benchCommand() command {
	return command{
		name: "bench", args: "allreduce|codec|link|scale|job|kernels|input|serve|peers", usage: "measure collectives, codecs, training, kernels and the machine",
		sub: []command{{
			name: "allreduce", args: "[-np N] [-H HOST:SLOTS,…]", usage: "time and check all-reduce over a range of sizes",
			examples: []string{"ringtrain bench allreduce -np 4", "ringtrain bench allreduce -H host-a,host-b --codec none,int8", "mpirun -np 4 ringtrain bench allreduce --max 128MiB"},
			flags:    benchSumFlags(), run: runBenchAllReduce,
		}, {
			name: "codec", usage: "time each codec on one core",
			examples: []string{"ringtrain bench codec"},
			flags:    []cli.Flag{option("json")}, run: runBenchCodec,
		}, {
			name: "link", args: "[-np N] [-H HOST:SLOTS,…]", usage: "what copies in memory and plain TCP do here: the limit of all-reduce",
			examples: []string{"ringtrain bench link -np 2", "ringtrain bench link -H host-a,host-b --only stream"},
			flags:    benchLinkFlags(), run: runBenchLink,
		}, {
			name: "scale", usage: "predict all-reduce on wires and world sizes that are not here",
			examples: []string{"ringtrain bench scale -np 16,64 --hosts 8 --bandwidth 10gbit --latency 50us"},
			flags:    benchScaleFlags(), run: runBenchScale,
		}, {
			name: "job", takes: words{1, -1, "jobs, or kinds of models"}, args: "JOB|MODEL …", usage: "how many ranks to take for a job, and what a step's time goes to",
			about:    "Trains the job with each number of ranks and each codec, in three turns, and advises. It writes no checkpoint, export or history, and evaluates nothing. A kind of model, such as mlp, is trained on drawn records.",
			examples: []string{"ringtrain bench job job.yaml", "ringtrain bench job mnist -np 1,2,4", "ringtrain bench job job.yaml -H host-a:4,host-b:4 --codec none,bf16,int8"},
			flags:    benchJobFlags(), run: runBenchJob,
		}, {
			name: "kernels", usage: "GFLOP/s of each kernel set, and its share of the measured peak",
			examples: []string{"ringtrain bench kernels"},
			flags:    benchKernelsFlags(), run: runBenchKernels,
		}, {
			name: "input", usage: "rows and MB a second of CPU time that each format is read at, beside VW, pandas, pyarrow, polars and tf.data",
			examples: []string{"ringtrain bench input --cases libsvm,csv"},
			flags:    benchInputFlags(), run: runBenchInput,
		}, {
			name: "serve", usage: "records and requests a second of exported models: the interpreter beside TensorFlow, then the server",
			examples: []string{"ringtrain bench serve", "ringtrain bench serve --only interpreter --cases mlp-1,mlp-128"},
			flags:    benchServeFlags(), run: runBenchServe,
		}, {
			name: "peers", usage: "all-reduce by other libraries and by ringtrain, on the same work in the same minutes",
			examples: []string{"ringtrain bench peers --short", "ringtrain bench peers --only clicks"},
			flags:    benchPeersFlags(), run: runBenchPeers,
		}},
	}
}

// benchTeam makes this process a rank of the command bench NAME. With -np or hosts it starts
// the ranks instead and waits for them; the returned team is then nil.
func (a *app) benchTeam(c *cli.Context, name string, meet join.Config, flags []cli.Flag) (*join.Team, *show.Reporter, error) {
	if startsRanks(c) {
		return nil, nil, a.benchRanks(c, name, flags)
	}
	place, err := a.findPlace(c)
	if err != nil {
		return nil, nil, err
	}
	out := a.newReporter(c, place.Rank)
	found, err := a.meetConfig(c, place, out)
	if err != nil {
		return nil, nil, err
	}
	found.Link, found.Levels, found.Security, found.Group, found.Agree = meet.Link, meet.Levels, meet.Security, meet.Group, meet.Agree
	team, err := join.Meet(a.ctx, place, found)
	if err != nil {
		return nil, nil, out.Fail(ring.CauseOf(err, place.Rank, show.Hostname(), -1))
	}
	out.Rank = team.Group.Membership().Rank
	if team.Group.Membership().Size() == 1 && name == "allreduce" {
		fmt.Fprintln(a.stderr, "1 rank: nothing is summed, and the times are those of copies; -np 2 or more starts ranks")
	}
	train.ShareCores(team.Group.Membership(), team.Group.Cores(), a.fixedThreads()) // as in training
	return team, out, nil
}

// startsRanks reports whether the options ask this process to start ranks, not to be one.
func startsRanks(c *cli.Context) bool { return c.Int("np") > 1 || namesHosts(c) }

// benchAgree returns the lines on which all ranks must agree, from alternating options
// and values.
func benchAgree(pairs ...any) []string {
	var lines []string
	for pair := range slices.Chunk(pairs, 2) {
		lines = append(lines, fmt.Sprintf("bench.%v=%v", pair[0], pair[1]))
	}
	return lines
}

// endBench leaves the team, or reports err to all ranks.
func endBench(team *join.Team, out *show.Reporter, err error) error {
	if err == nil {
		err = team.Leave(team.Context())
	}
	if err != nil {
		m := team.Group.Membership()
		return out.Fail(team.Abort(ring.CauseOf(err, m.Rank, m.Self().Host, -1)))
	}
	return nil
}

// benchRanks starts -np ranks of the command bench NAME with its options, on this host or on
// those of -H or --hostfile.
func (a *app) benchRanks(c *cli.Context, name string, flags []cli.Flag) error {
	cfg, err := a.benchLaunch(c, name, flags)
	if err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	readRanks(a, &cfg, out)
	res, err := a.launchWith(cfg, c.String("interface"), rendezvous.ServerConfig{StartTimeout: cfg.StartTimeout, Notice: cfg.Notice})
	return out.EndLaunch(res, err)
}

// benchLaunch returns the launch of the ranks of bench NAME.
func (a *app) benchLaunch(c *cli.Context, name string, flags []cli.Flag) (launch.Config, error) {
	cfg, err := launchConfig(a, c)
	if err != nil {
		return cfg, err
	}
	cfg.Bare = true
	if cfg.Bind, err = process.ParseBinding(c.String("bind-to")); err != nil {
		return cfg, err
	}
	if a.getenv("GOMAXPROCS") != "" && !c.IsSet("bind-to") {
		cfg.Bind = process.BindNone // the user chose the number of threads
	}
	if namesHosts(c) {
		if err := a.hostsOf(c, &cfg); err != nil {
			return cfg, err
		}
		if !c.IsSet("np") {
			cfg.NP = hosts.TotalSlots(cfg.Hosts)
		}
	}
	return cfg, runSelf(&cfg, append([]string{"bench", name}, optionsGiven(c, without(flags, launcherFlags()))...)...)
}

// launcherFlags has the options of a bench that the ranks do not receive.
func launcherFlags() []cli.Flag {
	return append(hostFlags(), option("np"), option("json"), option("rank"), option("world-size"), option("rendezvous"), bindFlag("core"))
}

// sizesOf parses --sizes, or --min and --max with the sizes between them.
func sizesOf(c *cli.Context, times int) ([]int, error) {
	if c.IsSet("sizes") {
		if c.IsSet("min") || c.IsSet("max") {
			return nil, exitcode.With(exitcode.Usage, errors.New("--sizes says which, want no --min and no --max"))
		}
		var sizes []int
		for word := range strings.SplitSeq(c.String("sizes"), ",") {
			n, err := byteCount("--sizes", word)
			if err != nil {
				return nil, err
			}
			sizes = append(sizes, n)
		}
		return sizes, nil
	}
	least, err1 := byteCount("--min", c.String("min"))
	most, err2 := byteCount("--max", c.String("max"))
	if err := errors.Join(err1, err2); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	if (least|most)%bench.ElementBytes != 0 {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--min is %s and --max is %s, want whole float32, of %d bytes", c.String("min"), c.String("max"), bench.ElementBytes))
	}
	sizes := bench.SizesFrom(least, most, times)
	if len(sizes) == 0 || least < bench.ElementBytes {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--min is %s, want at least %d and at most --max, %s", c.String("min"), bench.ElementBytes, c.String("max")))
	}
	return sizes, nil
}

// byteCount parses a number of bytes, such as 4MiB.
func byteCount(option, text string) (int, error) {
	var n job.Size
	if err := n.UnmarshalText([]byte(text)); err != nil {
		return 0, exitcode.With(exitcode.Usage, fmt.Errorf("%s %w", option, err))
	}
	return int(n), nil
}
