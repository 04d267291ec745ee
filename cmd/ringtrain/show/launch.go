package show

import (
	"cmp"
	"errors"
	"os"
	"strings"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// Refuse ends a command before it starts ranks. It writes the error event, whose cause is one line.
func (r *Reporter) Refuse(err error) error {
	cause := *ring.CauseOf(err, -1, Hostname(), -1)
	cause.Text = strings.ReplaceAll(cause.Text, "\n", " ")
	r.Emit(Failure(&cause))
	return r.Reported(err)
}

// EndLaunch ends a command that started ranks, whose rank 0 this Reporter has read. It tells the error
// event unless rank 0 has told it.
func (r *Reporter) EndLaunch(res launch.Result, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.told
	r.endStream(res, err)
	if err == nil && res.Code == exitcode.OK {
		return nil
	}
	cause := causeOfEnd(res)
	if err != nil {
		cause = ring.CauseOf(err, -1, Hostname(), -1)
	} else {
		err = exitcode.With(res.Code, errors.New(res.Text))
	}
	if !r.told {
		r.end(report.Stamped{Event: Failure(cause), Time: time.Now()}, nil, res)
	}
	if r.TellsEnd() && !before && !res.Unread {
		return r.Silent(exitcode.Of(err))
	}
	return err
}

// TellsEnd reports whether the lines below a live block tell all of the end, on the terminal that standard error is, too.
func (r *Reporter) TellsEnd() bool { return r.live != nil && r.OneOutput }

// causeOfEnd returns the first cause with the launcher's exit code.
func causeOfEnd(res launch.Result) *ring.Cause {
	if res.Cause != nil {
		c := *res.Cause
		c.ExitCode = res.Code
		return &c
	}
	return &ring.Cause{Rank: res.Rank, Host: cmp.Or(res.Host, Hostname()), Step: -1, Text: res.Text, ExitCode: res.Code}
}

// Hostname returns the name of this host for events of failures.
func Hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return name
}
