package train

import (
	"errors"

	"ringtrain/ring"
)

// Warning reports what has failed while training goes on.
type Warning struct {
	Rank      int    `json:"rank"`
	Host      string `json:"host"`
	Step      int64  `json:"step"`
	Operation string `json:"operation"` // evaluate, checkpoint, summary
	Cause     string `json:"cause"`
	ExitCode  int    `json:"exit_code"` // that the run would have, if this had been at its end
}

// Kind names the event.
func (Warning) Kind() string { return "warning" }

// warn reports c, which does not end the run.
func (r *run) warn(c *ring.Cause) {
	host := r.team.Group.Membership().Workers[c.Rank].Host
	r.emit(Warning{Rank: c.Rank, Host: host, Step: r.loop.Step, Operation: c.Operation, Cause: c.Text, ExitCode: c.ExitCode})
}

// skipped reports whether training goes on after err, the error of an evaluation that
// others will follow: it tells people, then. It is the same on all ranks.
func (r *run) skipped(err error) bool {
	failed, ok := errors.AsType[evalFailure](err)
	if ok {
		r.warn(failed.Cause)
	}
	return ok
}
