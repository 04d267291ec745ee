package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
)

func runCommand() command {
	return command{
		name: "run", takes: anyWords, args: "-np N [-H HOST:SLOTS,…] JOB|PROGRAM … [: -np N PROGRAM …]",
		usage: "start N ranks of a job or of any program, like mpirun",
		about: "Starts N ranks of a job, or of any program, on hosts over ssh. Without -H the hosts are those of the Slurm, PBS or LSF allocation that this is in, else this one alone. A job without -np and hosts has one rank, on all cores. Passes signals on, and ends with the exit code of the first rank that fails.",
		examples: []string{
			"ringtrain run -np 4 mnist",
			"ringtrain run -np 8 -H host-a:4,host-b:4 job.yaml --set train.epochs=3",
			"ringtrain run -np 4 --restarts 10 --hostfile hosts job.yaml",
			"ringtrain run -np 2 ./program --its-own-option",
		},
		flags: unionFlags(runFlags(), jobFlags()), run: runRun,
		stop: func(word string) bool { return !job.IsName(word) },
	}
}

// unionFlags returns the flags of both lists; a flag of the first shadows one of the
// second.
func unionFlags(a, b []cli.Flag) []cli.Flag {
	all := slices.Clone(a)
	for _, f := range b {
		if findFlag(all, f.Names()[0]) == nil {
			all = append(all, f)
		}
	}
	return all
}

func runRun(a *app, c *cli.Context) error {
	if c.NArg() == 0 {
		return exitcode.With(exitcode.Usage, errors.New("nothing to run: want a job or a program; see ringtrain run --help"))
	}
	cfg, err := a.runConfig(c)
	if err != nil {
		return err
	}
	by, _ := place.Launched(a.getenv, a.environ)
	if by != "" {
		cfg.Notice(by + ": each of these processes starts a job of its own; for one job of all have that launcher start `ringtrain train JOB`")
	}
	a.launched = true
	out := a.newReporter(c, 0)
	if err := a.showRun(c, out, by == ""); err != nil {
		return out.Refuse(err)
	}
	if c.Bool("print-options") && job.IsName(c.Args().First()) {
		options, err := loadJob(c, slices.Concat(cfg.Env, cfg.Export), c.Args().First())
		if err != nil {
			return out.Refuse(err)
		}
		return a.printOptions(options)
	}
	options, err := checkJob(c, &cfg)
	if err != nil {
		return out.Refuse(err)
	}
	a.history = launchedHistory(c, &cfg, options)
	if job.IsName(c.Args().First()) {
		out.Follow(nextOfRun(c, options, cfg))
	}
	if a.watch, err = watchJob(a, c, out); err != nil {
		return out.Refuse(err)
	}
	defer a.watch.close()
	if job.IsName(c.Args().First()) {
		show.Split(a.out, a.rawErr)
		out.Views = append(out.Views, endHistory(cfg.Dir, a.history, cfg.Notice))
		cfg.Events, cfg.Read = wholeStream, out.Read
		if a.watch.lacksPast(a.history) {
			cfg.Events, out.Past = wholePast, a.watch.page.Event
		}
		if out.Watched {
			cfg.Program = append(cfg.Program, "--progress=live")
		}
	}
	readRanks(a, &cfg, out)
	a.withParent = c.Bool("with-parent")
	res, err := a.launchWith(cfg, c.String("interface"), rendezvous.ServerConfig{
		StartTimeout: cfg.StartTimeout, Restarts: cfg.Restarts, Lease: c.Duration("lease"), Notice: cfg.Notice, NoticeSink: rendezvous.NoticeOwner,
	})
	if where := whereJobFileIs(c.Args().First(), res); where != "" && out.IsLive() {
		defer fmt.Fprintln(a.stderr, where)
	} else if where != "" {
		res.Text += "; " + where
	}
	return out.EndLaunch(res, err)
}

// readRanks has out get what ranks write, whose events it reads with --json.
func readRanks(a *app, cfg *launch.Config, out *show.Reporter) {
	cfg.All, cfg.Once, cfg.Told = out.Verbose, cfg.Self && show.IsTerminal(a.rawErr), out.TellsEnd()
	cfg.Stdout, cfg.Bare = out, cfg.Bare || out.JSON || out.IsLive()
	if cfg.Read == nil && out.JSON {
		cfg.Read = out.Pass
	}
	if cfg.Events == "" && out.JSON {
		cfg.Events = "1"
	}
}

// whereJobFileIs says where this host has the job file that a rank has not found, "" if that is not
// the cause: `run` does not send the file.
func whereJobFileIs(job string, res launch.Result) string {
	path, err := filepath.Abs(job)
	if err != nil || res.Code != exitcode.NoInput || !strings.Contains(res.Text, job+": no such job file") {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return fmt.Sprintf("this host has %s: copy it to every host, into the folder that ranks run in", path)
}

// surviveClosedPipes makes this process survive writes to a closed pipe, until its end:
// its exit code matters too. It does not ignore the signal, because the ranks would
// inherit that.
func surviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// parentEvery is the time between two looks whether the parent lives.
const parentEvery = time.Second

// followParent sends SIGTERM to signals when the process that started this one has ended: a notebook that was killed
// leaves no ranks. stop ends that.
func followParent(signals chan<- os.Signal) (stop func()) {
	parent, over := os.Getppid(), make(chan struct{})
	go func() {
		tick := time.NewTicker(parentEvery)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
		select {
		case <-over:
		case signals <- syscall.SIGTERM:
		}
	}()
	return func() { close(over) }
}

// launch starts the rendezvous and the ranks, and waits for the ranks.
func (a *app) launch(cfg launch.Config, startTimeout time.Duration) (launch.Result, error) {
	return a.launchWith(cfg, "", rendezvous.ServerConfig{StartTimeout: startTimeout})
}

// launchWith is launch with options for the rendezvous and the interface by which other
// hosts reach it.
func (a *app) launchWith(cfg launch.Config, via string, served rendezvous.ServerConfig) (launch.Result, error) {
	served.Unique = true
	served.JobID, served.Token, served.WorldSize = cfg.JobID, cfg.Token.Token, launch.WorldSize(cfg.NP, cfg.More)
	listen := "127.0.0.1:0"
	if cfg.Remote() {
		listen = ":0"
	}
	meeting, err := join.Serve(listen, false, served)
	if err != nil {
		return launch.Result{}, err
	}
	defer meeting.Close()
	if served.NoticeSink == rendezvous.NoticeOwner {
		defer a.advertise("run "+programName(cfg), meeting.Addr(), cfg.Token.Token)()
	}
	a.watch.follow(func(context.Context) (rendezvous.Status, bool) { return meeting.Status(), true })
	cfg.Rendezvous, cfg.Server, cfg.Behind, cfg.OneOutput = meeting.Addr(), meeting, via == "", a.out.OneOutput
	switch {
	case cfg.Remote():
		cfg.Reach, err = launch.Reach(meeting.Addr(), via)
	case via != "":
		_, err = launch.Interfaces(via)
	}
	if err != nil {
		return launch.Result{}, err
	}
	surviveClosedPipes()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores SIGHUP to survive its terminal
		signal.Notify(signals, syscall.SIGHUP)
	}
	if !signal.Ignored(syscall.SIGTSTP) { // SIGTSTP is ignored without job control
		signal.Notify(signals, syscall.SIGTSTP, syscall.SIGCONT)
	}
	defer signal.Stop(signals)
	if a.withParent {
		defer followParent(signals)()
	}
	cfg.Signals, cfg.Suspend = signals, func() { a.out.Suspend(suspend) }
	return launch.Run(context.WithoutCancel(a.ctx), cfg)
}

// programName returns a name for the first ranks' program: its job or its file.
func programName(cfg launch.Config) string {
	if cfg.Self && len(cfg.Program) > 2 && cfg.Program[1] == "train" {
		return cfg.Program[2]
	}
	return filepath.Base(cfg.Program[0])
}

// suspend stops this process until SIGCONT.
func suspend() { syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }
