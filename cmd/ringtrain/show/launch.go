package show

import (
	"cmp"
	"errors"
	"os"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// Refuse ends a command before it starts ranks. It writes the error event, whose cause is one line.
func (r *Reporter) Refuse(err error) error {
	cause := *ring.CauseOf(err, -1, Hostname(), -1)
	cause.Text = strings.ReplaceAll(cause.Text, "\n", " ")
	r.Emit(Failure(&cause))
	return Reported(err)
}

// EndLaunch ends a command that started ranks whose standard output went through watch.
// It writes the error event unless rank 0 has written it.
func (r *Reporter) EndLaunch(res launch.Result, err error, watch *ErrorWatch) error {
	watch.finish(res, err)
	if err == nil && res.Code == exitcode.OK {
		return nil
	}
	if err == nil {
		err = exitcode.With(res.Code, errors.New(res.Text))
		if !watch.Seen {
			r.Emit(Failure(causeOfEnd(res)))
			watch.Seen = true
		}
	}
	if watch.Seen {
		return Reported(err)
	}
	return err
}

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
