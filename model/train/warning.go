package train

import (
	"errors"

	"ringtrain/model/train/evaluate"
	"ringtrain/model/train/report"
	"ringtrain/ring"
)

// warn reports c, which does not end the run.
func (r *run) warn(c *ring.Cause) {
	host := r.team.Group.Membership().Workers[c.Rank].Host
	r.emit(report.Warning{Rank: c.Rank, Host: host, Step: r.loop.Step, Operation: c.Operation, Cause: c.Text, ExitCode: c.ExitCode})
}

// skipped reports whether training goes on after err, the error of an evaluation that
// others will follow: it tells people, then. It is the same on all ranks.
func (r *run) skipped(err error) bool {
	failed, ok := errors.AsType[evaluate.Failure](err)
	if ok {
		r.warn(failed.Cause)
	}
	return ok
}
