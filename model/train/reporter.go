package train

import (
	"errors"

	"ringtrain/export/history"
	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// reporter reports a run on rank 0, on behalf of all ranks. It remembers from one generation to the
// next what must not be reported again. On other ranks it gives only notices.
type reporter struct {
	trace   report.Trace
	notice  func(string)
	workers []ring.Worker // of the generation; nil on other ranks than 0
	step    int64         // completed

	started  bool
	early    []*ring.Cause   // warnings from before the start
	zeroRate bool            // steps whose rate is 0 are reported
	restored string          // kernel set of the restored checkpoint; "" once it is reported
	kernels  string          // last reported kernel set
	route    string          // last reported route of the rows of tables
	absent   map[string]bool // sets of which is told what no record has
	done     bool
	tested   bool // the test records are reported

	tracker tracker
	curves  curves
	history *history.Writer // nil: none
}

// speaks reports whether this rank is rank 0.
func (r *reporter) speaks() bool { return r.workers != nil }

// emit sends an event from rank 0, and puts it into the history.
func (r *reporter) emit(e report.Event) {
	if !r.speaks() {
		return
	}
	if r.trace != nil {
		r.trace(e)
	}
	r.keep(e)
	r.warnUnwritten(r.curves.add(e))
}

// decide reports a choice, nil for none.
func (r *reporter) decide(d *report.Decision) {
	if d != nil {
		r.emit(*d)
	}
}

// warn reports c, which does not end the run.
func (r *reporter) warn(c *ring.Cause) {
	if r.speaks() {
		r.emit(report.Warning{Rank: c.Rank, Host: r.workers[c.Rank].Host, Step: r.step, Operation: c.Operation, Cause: c.Text, ExitCode: c.ExitCode})
	}
}

// warnOf reports a warning of rank 0. A warning from before the start follows it.
func (r *reporter) warnOf(operation, text string) {
	c := &ring.Cause{Operation: operation, Text: text}
	if !r.started {
		r.early = append(r.early, c)
		return
	}
	r.warn(c)
}

// tolerates reports whether training continues after err, of an evaluation or of a checkpoint before the
// last one. If so, it warns. The result is the same on all ranks for an evaluation.
func (r *reporter) tolerates(err error) bool {
	if failed, ok := errors.AsType[evaluate.Failure](err); ok {
		if ofSignal(err) == 0 { // else the next step agrees on the stop
			r.warn(failed.Cause)
		}
		return true
	}
	unsaved, ok := errors.AsType[checkpointError](err)
	if !ok || exitcode.Of(unsaved) == exitcode.Retry { // another process owns the folder
		return false
	}
	r.warn(&ring.Cause{Operation: "checkpoint", Text: unsaved.Error(), ExitCode: exitcode.Of(unsaved)})
	return true
}

// start reports once that this process trains, and then what was to be told before. It reports whether
// it does so now.
func (r *reporter) start(e report.Start) bool {
	if !r.speaks() || r.started {
		return false
	}
	r.started = true
	r.emit(e)
	for _, c := range r.early {
		r.warn(c)
	}
	return true
}

// warnUnwritten warns of curves that could not be written.
func (r *reporter) warnUnwritten(err error) {
	if err != nil {
		r.warn(&ring.Cause{Operation: "summary", Text: "summary.dir: " + err.Error(), ExitCode: exitcode.Of(err)})
	}
}

// tellAbsent tells once what no record of a set has.
func (r *reporter) tellAbsent(set string, plan *column.Plan, c *input.Counts) {
	if !r.speaks() || r.absent[set] {
		return
	}
	r.absent[set] = true
	for _, w := range records.Warnings(set, plan, c, false) {
		w.Host, w.Step = r.workers[0].Host, r.step
		r.emit(w)
	}
}
