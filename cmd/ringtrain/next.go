package main

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/job"
	"ringtrain/ring/launch"
)

// jobChanging are the flags that make another job of the one that is named.
var jobChanging = []string{"set", "link", "codec", "security"}

// nextOf returns what the commands after a job need to know. options is nil if only its ranks know the job.
func nextOf(c *cli.Context, options *job.Config) show.Next {
	return show.Next{
		Job: c.Args().First(), Alone: !slices.ContainsFunc(jobChanging, c.IsSet), Data: c.String("data"),
		NoFiles: options != nil && options.Input.Train.Format == "",
	}
}

// nextOfRun is nextOf for a job that run starts.
func nextOfRun(c *cli.Context, options *job.Config, cfg launch.Config) show.Next {
	next := nextOf(c, options)
	next.Where, next.Again = whereOf(cfg), againOf(c)
	next.Alone = next.Alone && len(cfg.Export) == 0
	return next
}

// againOf returns the command line that goes on with this job.
func againOf(c *cli.Context) string {
	line := show.CommandLine(os.Args)
	if c.String("resume") == "never" {
		line += " --resume auto"
	}
	return line
}

// whereOf says where the files of a launched job are, "" for the folder of this process.
func whereOf(cfg launch.Config) string {
	var where []string
	if len(cfg.Hosts) > 0 && !cfg.Hosts[0].Local {
		where = append(where, "on "+cfg.Hosts[0].Name)
	}
	if cfg.Dir != "" {
		where = append(where, "in "+cfg.Dir)
	}
	return strings.Join(where, " ")
}

// leaveTerminal gives the terminal back to the shell before Ctrl-Z stops this process.
func leaveTerminal(out *show.Reporter) {
	if !out.IsLive() || signal.Ignored(syscall.SIGTSTP) {
		return
	}
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTSTP)
	go func() {
		for range stops {
			out.Suspend(suspend)
		}
	}()
}
