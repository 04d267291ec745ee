package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/export/checkpoint"
	"ringtrain/export/history"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring/launch"
)

// historyFile returns the file in which rank 0 on this host, in a folder, writes the history of a job, "" for none.
func historyFile(dir string, cfg *job.Config) string {
	if cfg == nil || cfg.Checkpoint.Dir == "" || !cfg.Log.History {
		return ""
	}
	return inFolder(dir, filepath.Join(cfg.Checkpoint.Dir, history.File))
}

// launchedHistory is historyFile for a launched job: behind HOST: for a rank 0 on another host, and "" if this host
// cannot know the job. options are those that are known.
func launchedHistory(c *cli.Context, cfg *launch.Config, options *job.Config) string {
	name := c.Args().First()
	if options == nil && job.IsName(name) && !readsOnce(name) {
		options, _ = loadJob(c, slices.Concat(cfg.Env, cfg.Export), name) // the ranks tell what is wrong with it
	}
	if len(cfg.Hosts) == 0 || cfg.Hosts[0].Local {
		here, _ := os.Getwd() // "" if it is gone
		return historyFile(inFolder(here, cfg.Dir), options)
	}
	file := historyFile(cfg.Dir, options)
	if file == "" {
		return ""
	}
	return cfg.Hosts[0].Name + ":" + file
}

// inFolder returns the path by which this process knows what a process in dir calls name.
func inFolder(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// endHistory returns a view of a launcher, which appends the error of its job to the history: if rank 0
// has died, it could not. The history is on this host, or on a disk that this host shares, if the folder
// says that this job was its last writer. dir is the folder that ranks run in. file is the history for a job that ends
// before it begins, if it is on this host.
func endHistory(dir, file string, notice func(string)) show.View {
	var start report.Start
	return func(s report.Stamped) {
		switch e := s.Event.(type) {
		case report.Start:
			start = e
		case report.Failure:
			folder, begun := inFolder(dir, start.CheckpointDir), start.JobID != ""
			if !begun {
				folder = filepath.Dir(file)
			}
			if id, held := checkpoint.Holder(folder); held || begun && id != start.JobID || !begun && !filepath.IsAbs(file) {
				return
			}
			if err := history.End(folder, s, begun); err != nil {
				notice("log.history: the history does not have the end of the job: " + err.Error())
			}
		}
	}
}
