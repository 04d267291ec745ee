package show

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"ringtrain/model/train/report"
	"text/tabwriter"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/joblist"
	"ringtrain/ring/rendezvous"
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

// OneJobTable writes the status of a job of this host, and where its history and its live page are.
func OneJobTable(w io.Writer, jobs []joblist.Job) error {
	for _, j := range jobs {
		if err := StatusTable(w, []rendezvous.Status{j.Status}); err != nil {
			return err
		}
		for _, place := range [][2]string{{"history ", j.History}, {"dashboard ", j.Dashboard}} {
			if place[1] == "" {
				continue
			}
			if _, err := fmt.Fprintln(w, place[0]+place[1]); err != nil {
				return err
			}
		}
	}
	return nil
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

// JobJSON writes one object for each job.
func JobJSON(w io.Writer, jobs []joblist.Job) error {
	var errs []error
	for _, j := range jobs {
		line, err := report.Line(listedJob{statusEvent(j.Status), j.Command, j.Address, j.Dashboard, j.History, j.PID, j.Since.UTC()}, time.Now())
		if err != nil {
			return exitcode.With(exitcode.Internal, err)
		}
		_, err = w.Write(line)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
