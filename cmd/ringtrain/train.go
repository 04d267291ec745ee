package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/job"
	"ringtrain/model/train"
	"ringtrain/model/train/records"
	"ringtrain/ring"
	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/order"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

func trainCommand() command {
	return command{
		name: "train", takes: words{1, 1, "one job"}, args: "JOB", usage: "train a job as one rank; the environment says which",
		examples: []string{"mpirun -np 4 ringtrain train mnist", "srun -n 4 ringtrain train job.yaml", "ringtrain train job.yaml --rank 0 --world-size 2 --rendezvous host-a:7000"},
		flags:    slices.Concat(jobFlags(), placeFlags(), []cli.Flag{option("restarts"), option("lease")}, watchFlags()), run: runTrain, fails: (*app).reportEarly,
	}
}

func runTrain(a *app, c *cli.Context) error {
	token.NoCore()
	surviveClosedPipes() // also of a launcher that has died: the state is saved
	_, launched := place.Launched(a.getenv, a.environ)
	place, err := a.findPlace(c)
	if err != nil || !a.needed(place) {
		return err
	}
	out := a.newReporter(c, place.Rank)
	stream := a.getenv("RINGTRAIN_JSON")
	if stream == wholeStream || stream == wholePast {
		out.Stream()
	}
	if stream == wholePast {
		out.Past = out.HandPast
	}
	if err := a.showRun(c, out, place.WorldSize == 1 && !launched); err != nil {
		return err
	}
	meet, err := a.meetConfig(c, place, out)
	if err != nil {
		return out.Fail(ring.CauseOf(err, place.Rank, show.Hostname(), -1))
	}
	return a.trainAt(c, place, meet, out)
}

// trainAt trains at a known place. It reports any error to the other ranks, and reports
// the first cause.
func (a *app) trainAt(c *cli.Context, place place.Place, meet join.Config, out *show.Reporter) error {
	ctx, stopper := catchSignals(a.ctx, a.stderr)
	early := func(err error) error { // before the join
		cause := ring.CauseOf(err, place.Rank, show.Hostname(), -1)
		return out.Fail(join.Report(ctx, place, meet, cause))
	}
	cfg, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return early(err)
	}
	if c.Bool("print-options") {
		return a.printOptions(cfg)
	}
	defer func() { a.watch.close() }()
	if place.Rank <= 0 { // of -1 the rendezvous may make 0
		here, _ := os.Getwd() // "" if it is gone
		a.history = historyFile(here, cfg)
	}
	if place.Rank == 0 {
		if err := watchRank0(a, c, place, meet); err != nil {
			return early(err)
		}
	}
	next := nextOf(c, cfg)
	if place.WorldSize <= 1 {
		next.Again = againOf(c)
	}
	out.Follow(next)
	leaveTerminal(out)
	trainer, err := train.Prepare(ctx, cfg, train.Options{
		Roots: dataRoots(c, a.getenv), CacheDir: records.CacheDir(), Resume: c.String("resume"), Version: version, Trace: out.Event, Past: out.Past, Notice: meet.Notice,
		Checkpoint: stopper.wantsCheckpoint,
	})
	if err != nil {
		return early(err)
	}
	defer trainer.Close()
	meet.Agree = append(trainer.Agree(), place.AgreeLines()...)
	meet.Offers = []rendezvous.Offer{{Name: train.KernelsChoice, Values: trainer.KernelSets()}}
	meet.Link, meet.Levels, meet.Security = cfg.AllReduce.Link, cfg.AllReduce.Levels, cfg.AllReduce.Security
	if meet.Order, err = order.Parse(cfg.AllReduce.Order); err != nil {
		return early(err)
	}
	meet.Group = ring.DefaultConfig()
	if meet.Group.Lossless, err = cfg.AllReduce.Compressor(); err != nil {
		return early(err)
	}
	if meet.Group.Algorithm, err = ring.ParseAlgorithm(string(cfg.AllReduce.Algorithm)); err != nil {
		return early(err)
	}
	if place.Serve {
		defer a.advertise("train "+c.Args().First(), place.Listen, meet.Token)()
	}
	team, err := join.Meet(ctx, place, meet)
	if err != nil {
		return out.Fail(ring.CauseOf(err, place.Rank, show.Hostname(), -1))
	}
	if place.Rank < 0 && team.Membership().Rank == 0 {
		if err := watchRank0(a, c, place, meet); err != nil {
			defer team.Close()
			return out.Fail(team.Abort(ring.CauseOf(err, 0, show.Hostname(), -1)))
		}
	}
	return a.trainOn(ctx, team, trainer, stopper, out)
}

// trainOn trains with team and the teams of later generations until the job ends for
// this rank.
func (a *app) trainOn(ctx context.Context, team *join.Team, trainer *train.Trainer, signals *stopper, out *show.Reporter) error {
	defer func() {
		signals.endTeam(false)
		team.Close()
	}()
	cores := train.ShareCores(team.Group.Membership(), team.Group.Cores(), a.fixedThreads())
	for {
		m := team.Group.Membership()
		out.Rank = m.Rank
		signals.startTeam(team)
		result, err := trainWith(trainer, train.Team{
			Group: team.Group, Rendezvous: team.Rendezvous, Link: team.Link, Progress: signals.progress, Cores: cores, Lost: team.Lost, Cause: team.Cause, Stop: signals.stop, Leave: signals.leave,
			Reached: team.Reached, Keys: a.keys,
		}, team)
		if err == nil {
			stop := stopCause(result, m, team.StoppedBy(), signals.code.Load() != 0)
			if stop != nil {
				trainer.Record(show.Failure(stop))
			}
			out.End(result, stop)
			return out.Silent(result.Stopped)
		}
		c := ring.CauseOf(err, m.Rank, m.Self().Host, result.Step)
		signalled := func() bool { return signals.told() != 0 && c.ExitCode >= exitcode.Interrupted }
		if !signalled() { // else the ranks can agree on no step
			signals.endTeam(m.Size() > 1)
			next, err := team.Next(ctx, c)
			if err == nil {
				team = next
				continue
			}
			c = ring.CauseOf(err, m.Rank, m.Self().Host, result.Step)
		}
		if signalled() {
			c = signalCause(m, result.Step, signals.told())
			team.Abort(c)
		}
		c = trainer.Lost(m.Rank, c)
		trainer.Record(show.Failure(c))
		return out.Fail(c)
	}
}

// fixedThreads returns the number of threads that the user has set, 0 for none.
func (a *app) fixedThreads() int {
	n, err := strconv.Atoi(a.getenv("GOMAXPROCS"))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// trainWith trains for one generation and leaves it.
func trainWith(trainer *train.Trainer, t train.Team, team *join.Team) (train.Result, error) {
	result, err := trainer.Run(team.Context(), t)
	switch {
	case err != nil:
	case result.Alone:
		team.Abort(signalCause(t.Group.Membership(), result.Step, result.Stopped))
	default:
		err = team.Leave(team.Context())
	}
	return result, err
}

// signalCause is the word of a rank that a signal ends while others go on, or before they agree on a step.
func signalCause(m ring.Membership, step int64, code int) *ring.Cause {
	return &ring.Cause{Rank: m.Rank, Host: m.Self().Host, Step: step, Text: "stopped by a signal", ExitCode: code}
}

// stopCause returns the cause of a job stopped by a signal: by is the rank that received
// the signal, as the rendezvous knows. The cause has no rank if this rank was signalled
// too. It is nil if the job was not stopped.
func stopCause(r train.Result, m ring.Membership, by int, told bool) *ring.Cause {
	if r.Stopped == 0 || r.Alone {
		return nil
	}
	c := &ring.Cause{Rank: by, Step: r.Step, Text: "stopped by a signal", ExitCode: r.Stopped}
	if told && by != m.Rank {
		c.Rank = -1
	}
	if c.Rank >= 0 {
		c.Host = m.Workers[c.Rank].Host
	}
	return c
}

// meetConfig returns this worker's configuration of the join at a place, without the job's part.
func (a *app) meetConfig(c *cli.Context, at place.Place, out *show.Reporter) (join.Config, error) {
	secret, err := token.Find(a.getenv)
	if err == nil {
		secret, err = place.TokenFor(at.Listen, secret, c.Bool("insecure"))
	}
	return join.Config{
		Token: secret, Insecure: c.Bool("insecure"), Version: build.Current(version), StartTimeout: c.Duration("start-timeout"),
		Restarts: c.Int("restarts"), Lease: c.Duration("lease"),
		Waiting: func(w rendezvous.Waiting) { out.Waiting(w) },
		Notice:  a.notice,
	}, err
}

func placeFlagsOf(c *cli.Context) place.Flags {
	return place.Flags{
		Rank: c.Int("rank"), WorldSize: c.Int("world-size"), Rendezvous: c.String("rendezvous"),
		Listen: c.String("listen"), JobID: c.String("job-id"), HostID: c.String("host-id"),
	}
}

// dataRoots returns the folders of relative input files.
func dataRoots(c *cli.Context, getenv func(string) string) []string {
	root := "."
	if dir := getenv("RINGTRAIN_DATA"); dir != "" {
		root = dir
	}
	if dir := c.String("data"); dir != "" {
		root = dir
	}
	roots := []string{root}
	if _, ok := job.Builtin(c.Args().First()); ok {
		if cache, err := cacheDir(); err == nil {
			roots = append(roots, cache)
		}
	}
	return roots
}

// cacheDir returns the folder of data fetch.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "ringtrain", "data"), err
}

func wantsJSON(c *cli.Context, getenv func(string) string) bool {
	return c.Bool("json") || envWantsJSON(getenv)
}

func envWantsJSON(getenv func(string) string) bool {
	v := strings.ToLower(getenv("RINGTRAIN_JSON"))
	return v != "" && v != "0" && v != "false"
}

func (a *app) printOptions(cfg *job.Config) error {
	text, err := cfg.File()
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	_, err = a.dataOut().Write(text)
	return err
}
