package train

import (
	"time"

	"ringtrain/export/checkpoint"
	"ringtrain/export/history"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// openHistory opens the history of a job in its folder of checkpoints, once a process, and hands on what it has. A fault
// is a warning.
func (r *reporter) openHistory(cfg *job.Config, folder *checkpoint.Folder, past func(report.Stamped)) {
	if r.history != nil || folder == nil || !cfg.Log.History {
		return
	}
	var err error
	if r.history, err = history.Open(cfg.Checkpoint.Dir, folder.LeaseError, past); err != nil {
		r.warnOf("history", "log.history: no history is kept: "+err.Error())
	}
}

// keep puts an event into the history. It warns, once, if an earlier one could not be written.
func (r *reporter) keep(e report.Event) {
	if r.history == nil {
		return
	}
	r.history.Add(report.Stamped{Event: e, Time: time.Now()})
	if err := r.history.Fault(); err != nil {
		r.warn(&ring.Cause{Operation: "history", Text: "log.history: " + err.Error(), ExitCode: exitcode.IO})
	}
}

// closeHistory closes the history.
func (r *reporter) closeHistory() error {
	if r.history == nil {
		return nil
	}
	return r.history.Close()
}

// Record puts the end of the job into the history of rank 0.
func (t *Trainer) Record(e report.Event) { t.reporter.keep(e) }
