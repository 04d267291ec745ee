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

// record is the history of a run in the folder of checkpoints, which rank 0 writes. Without a file events
// go nowhere.
type record struct {
	file   *history.Writer
	folder *checkpoint.Folder // its lease allows to write
}

// open opens the history of a folder, once a process.
func (r *record) open(dir string, folder *checkpoint.Folder) error {
	if r.file != nil || folder == nil {
		return nil
	}
	w, err := history.Open(dir)
	if err == nil {
		r.file, r.folder = w, folder
	}
	return err
}

// openRecord opens the history of a job, if it wants one. A fault is a warning.
func (r *reporter) openRecord(cfg *job.Config, folder *checkpoint.Folder) {
	if !cfg.Log.History {
		return
	}
	if err := r.record.open(cfg.Checkpoint.Dir, folder); err != nil {
		r.warnOf("history", "log.history: no history is kept: "+err.Error())
	}
}

// add adds an event. It returns the fault of an earlier one that could not be written, once.
func (r *record) add(e report.Event) error {
	if r.file == nil || r.folder.LeaseError() != nil {
		return nil
	}
	r.file.Add(report.Stamped{Event: e, Time: time.Now()})
	return r.file.Fault()
}

// close closes the file.
func (r *record) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// warnUnrecorded warns that the history has gaps.
func (r *reporter) warnUnrecorded(err error) {
	if err != nil {
		r.warn(&ring.Cause{Operation: "history", Text: "log.history: " + err.Error(), ExitCode: exitcode.IO})
	}
}

// Record puts the end of the job into the history of rank 0.
func (t *Trainer) Record(e report.Event) { t.reporter.warnUnrecorded(t.reporter.record.add(e)) }
