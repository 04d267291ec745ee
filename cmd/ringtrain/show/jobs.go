package show

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/joblist"
)

// JobTable writes a line for each job.
func JobTable(w io.Writer, jobs []joblist.Job) error {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tcommand\tphase\tranks\tstep\tsince\taddress")
	for _, j := range jobs {
		s := j.Status
		fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%s\t%s\t%s\n", cmp.Or(s.JobID, "-"), j.Command, s.Phase, s.Present, s.WorldSize, stepText(s.Step),
			j.Since.Local().Format(time.DateTime), j.Address)
	}
	return written(w, &b, t)
}

// listedJob is the event of a job of this host.
type listedJob struct {
	jobStatus
	Command    string    `json:"command"`
	Rendezvous string    `json:"rendezvous"`
	Dashboard  string    `json:"dashboard"`
	History    string    `json:"history"`
	PID        int       `json:"pid"`
	Since      time.Time `json:"since"`
}

// JobJSON writes one object for each job. Of a job without a command only the rendezvous is known.
func JobJSON(w io.Writer, jobs []joblist.Job) error {
	var errs []error
	for _, j := range jobs {
		var e report.Event = statusEvent(j.Status)
		if j.Command != "" {
			e = listedJob{statusEvent(j.Status), j.Command, j.Address, j.Dashboard, j.History, j.PID, j.Since.UTC()}
		}
		line, err := report.Line(e, time.Now())
		if err != nil {
			return exitcode.With(exitcode.Internal, err)
		}
		_, err = w.Write(line)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
