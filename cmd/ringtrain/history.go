package main

import (
	"path/filepath"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/export/checkpoint"
	"ringtrain/export/history"
	"ringtrain/model/train/report"
)

// endHistory returns a view of a launcher, which appends the error of its job to the history: if rank 0
// has died, it could not. The history is on this host, or on a disk that this host shares, if the folder
// says that this job was its last writer. dir is the folder that ranks run in.
func endHistory(dir string, notice func(string)) show.View {
	var start report.Start
	return func(s report.Stamped) {
		switch e := s.Event.(type) {
		case report.Start:
			start = e
		case report.Failure:
			folder := start.CheckpointDir
			if !filepath.IsAbs(folder) {
				folder = filepath.Join(dir, folder)
			}
			if job, held := checkpoint.Holder(folder); held || job == "" || job != start.JobID {
				return
			}
			if err := history.End(folder, s); err != nil {
				notice("log.history: the history does not have the end of the job: " + err.Error())
			}
		}
	}
}
