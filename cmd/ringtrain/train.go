package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/model/train"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/rendezvous"
)

func trainCommand() command {
	return command{
		name: "train", args: "JOB", usage: "train a job as one rank; the environment says which",
		flags: trainFlags(), run: (*app).train,
	}
}

func (a *app) train(c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "one job"); err != nil {
		return err
	}
	place, err := launch.FindPlace(a.getenv, a.environ, placeFlagsOf(c))
	if err != nil {
		return err
	}
	for _, notice := range place.Notices {
		fmt.Fprintln(a.stderr, notice)
	}
	if place.NotNeeded != "" {
		fmt.Fprintln(a.stderr, place.NotNeeded)
		return nil
	}
	out := a.newReporter(c, place.Rank)
	meet, err := a.meetConfig(c, out)
	if err != nil {
		return out.fail(ring.CauseOf(err, place.Rank, hostname(), -1))
	}
	return a.trainAt(c, place, meet, out)
}

// trainAt trains at a known place. Whatever goes wrong is told to the other
// ranks, and the first cause is what this rank reports.
func (a *app) trainAt(c *cli.Context, place launch.Place, meet launch.MeetConfig, out *reporter) error {
	ctx, stopper := catchSignals(a.ctx)
	early := func(err error) error { // before the others were met
		cause := ring.CauseOf(err, place.Rank, hostname(), -1)
		return out.fail(launch.Report(ctx, place, meet, cause))
	}
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return early(err)
	}
	if c.Bool("print-options") {
		return a.printOptions(job)
	}
	trainer, err := train.Prepare(job, train.Options{
		Roots: dataRoots(c, a.getenv), Resume: c.String("resume"), Version: version, Trace: out.event, Stop: stopper.stop, Notice: meet.Notice,
	})
	if err != nil {
		return early(err)
	}
	defer trainer.Close()
	meet.Agree = append(trainer.Agree(), place.AgreeLines()...)
	meet.Link, meet.Levels = job.AllReduce.Link, job.AllReduce.Levels
	meet.Group = ring.DefaultConfig()
	if meet.Group.Lossless, err = job.AllReduce.Compressor(); err != nil {
		return early(err)
	}
	if meet.Group.Algorithm, err = ring.ParseAlgorithms(job.AllReduce.Algorithm); err != nil {
		return early(err)
	}
	team, err := launch.Meet(ctx, place, meet)
	if err != nil {
		return out.fail(ring.CauseOf(err, place.Rank, hostname(), -1))
	}
	defer team.Close()
	stopper.begin()
	return a.trainWith(team, trainer, out)
}

func (a *app) trainWith(team *launch.Team, trainer *train.Trainer, out *reporter) error {
	m := team.Group.Membership()
	out.rank = m.Rank
	result, err := trainer.Run(team.Context(), train.Team{
		Group: team.Group, Rendezvous: team.Rendezvous, Link: team.Link, Progress: team.Progress,
		Cores: train.ShareCores(m, a.getenv("GOMAXPROCS") != ""),
	})
	if err == nil {
		err = team.Leave(team.Context())
	}
	if err != nil {
		return out.fail(team.Abort(ring.CauseOf(err, m.Rank, m.Self().Host, result.Step)))
	}
	out.end(result)
	if result.Stopped != 0 {
		return exitcode.With(result.Stopped, errors.New(""))
	}
	return nil
}

// meetConfig is what this worker brings to the meeting, but for the job's part.
func (a *app) meetConfig(c *cli.Context, out *reporter) (launch.MeetConfig, error) {
	token, err := ring.FindToken(a.getenv)
	return launch.MeetConfig{
		Token: token, Insecure: c.Bool("insecure"), Version: version, StartTimeout: c.Duration("start-timeout"),
		Waiting: func(w rendezvous.Waiting) { out.waiting(w) },
		Notice:  func(line string) { fmt.Fprintln(a.stderr, line) },
	}, err
}

func placeFlagsOf(c *cli.Context) launch.Flags {
	return launch.Flags{
		Rank: c.Int("rank"), WorldSize: c.Int("world-size"), Rendezvous: c.String("rendezvous"),
		Listen: c.String("listen"), JobID: c.String("job-id"),
	}
}

// loadJob reads the job called name with the options of the command line.
func loadJob(c *cli.Context, environ []string, name string) (*train.Job, error) {
	sets := c.StringSlice("set")
	if link := c.String("link"); link != "" {
		sets = append(sets, "allreduce.link="+link)
	}
	return train.LoadJob(name, environ, sets)
}

// dataRoots are the folders that relative input files are looked for in.
func dataRoots(c *cli.Context, getenv func(string) string) []string {
	root := "."
	if dir := getenv("RINGTRAIN_DATA"); dir != "" {
		root = dir
	}
	if dir := c.String("data"); dir != "" {
		root = dir
	}
	roots := []string{root}
	if _, ok := train.BuiltinJob(c.Args().First()); ok {
		if cache, err := cacheDir(); err == nil {
			roots = append(roots, cache)
		}
	}
	return roots
}

// cacheDir is where data fetch writes.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "ringtrain", "data"), err
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}

func wantsJSON(c *cli.Context, getenv func(string) string) bool {
	v := strings.ToLower(getenv("RINGTRAIN_JSON"))
	return c.Bool("json") || v != "" && v != "0" && v != "false"
}

func (a *app) printOptions(job *train.Job) error {
	text, err := job.File()
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	_, err = a.stdout.Write(text)
	return err
}
