package show

import (
	"bytes"
	"errors"
	"io"
	"time"

	"ringtrain/model/train"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/joblist"
	"ringtrain/ring/rendezvous"
)

// fields are those of an event of a job's status.
type fields map[string]any

// statusEvent returns the status of a job. Fields that a missing rank does not have are -1 or "".
func statusEvent(s rendezvous.Status) fields {
	cause, ranks := "", []fields{}
	if s.Cause != nil {
		cause = s.Cause.Error()
	}
	for _, r := range s.Ranks {
		ranks = append(ranks, fields{
			"rank": r.Worker.Rank, "present": r.Present, "host": r.Worker.Host, "address": r.Worker.Addr, "pid": r.Worker.PID,
			"reason": r.Reason, "missing_s": r.Missing.Seconds(), "step": r.Step, "phase": r.Phase, "beat_s": r.Beat.Seconds(),
			"operation": r.Wait.Operation, "seq": r.Wait.Seq, "elements": r.Wait.Elements, "peer": r.Wait.Peer, "moved": r.Wait.Moved, "for_s": r.For.Seconds(),
		})
	}
	return fields{
		"job_id": s.JobID, "phase": s.Phase, "generation": s.Generation, "world_size": s.WorldSize, "present": s.Present, "step": s.Step,
		"steps_per_s": s.StepsPerS, "restarts_left": s.RestartsLeft, "remaining_s": s.Remaining.Seconds(), "stall": s.Stall,
		"kernels": s.Choice(train.KernelsChoice).Value, "cause": cause, "ranks": ranks, "strangers": append([]string{}, s.Strangers...),
	}
}

// statusLine returns a status as a line of JSON.
func statusLine(of fields) ([]byte, error) {
	line, err := report.Line(named{"status", of}, time.Now())
	return line, exitcode.With(exitcode.Internal, err)
}

// StatusLine returns the state of a job as one line of JSON, without a newline.
func StatusLine(s rendezvous.Status) []byte {
	line, err := statusLine(statusEvent(s))
	if err != nil {
		panic("show: a status cannot be written as JSON")
	}
	return bytes.TrimSuffix(line, []byte("\n"))
}

// JobJSON writes one object for each job. Of a job without a command only the rendezvous is known.
func JobJSON(w io.Writer, jobs []joblist.Job) error {
	var errs []error
	for _, j := range jobs {
		e := statusEvent(j.Status)
		if j.Command != "" {
			e["command"], e["rendezvous"], e["dashboard"], e["history"] = j.Command, j.Address, j.Dashboard, j.History
			e["pid"], e["since"] = j.PID, j.Since.UTC()
		}
		line, err := statusLine(e)
		if err != nil {
			return err
		}
		_, err = w.Write(line)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
