package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/joblist"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// localTimeout bounds the wait for a rendezvous on this host, while others are asked in
// parallel.
const localTimeout = 2 * time.Second

// localJob is a job whose rendezvous runs in a process of this user on this host.
type localJob struct {
	joblist.Entry
	status rendezvous.Status
	err    error // the rendezvous does not answer; only the entry is known
}

// hasLocalJob reports whether one of jobs has answered.
func hasLocalJob(jobs []localJob) bool {
	return slices.ContainsFunc(jobs, func(j localJob) bool { return j.err == nil })
}

// localJobs returns the job with an id, or with "" all jobs, of all rendezvous of this
// user on this host. It reports unreadable listings to notice, unless notice is nil.
func (a *app) localJobs(ctx context.Context, id string, notice func(string)) []localJob {
	list, faults := joblist.Read(a.getenv)
	for _, err := range faults {
		if notice != nil {
			notice(err.Error())
		}
	}
	answers := make([][]localJob, len(list))
	var asking sync.WaitGroup
	for i, l := range list {
		asking.Go(func() { answers[i] = askRendezvous(ctx, l, id) })
	}
	asking.Wait()
	all := slices.Concat(answers...)
	slices.SortStableFunc(all, func(x, y localJob) int { return x.Since.Compare(y.Since) })
	return all
}

// askRendezvous asks one rendezvous.
func askRendezvous(ctx context.Context, l joblist.Entry, id string) []localJob {
	at, err := rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: l.Address, Token: l.Token, JobID: id, Timeout: localTimeout})
	if err != nil {
		return []localJob{{Entry: l, err: err}}
	}
	defer at.Close()
	all, err := at.Next(ctx)
	if err != nil {
		return []localJob{{Entry: l, err: err}}
	}
	jobs := make([]localJob, len(all))
	for i, s := range all {
		jobs[i] = localJob{Entry: l, status: s}
	}
	return jobs
}

// localStatus shows the job of this host with an id, or the only job, or a list of all.
func (a *app) localStatus(ctx context.Context, c *cli.Context, id string) error {
	notice := func(text string) { fmt.Fprintln(a.stderr, text) }
	jobs := a.localJobs(ctx, id, notice)
	if len(jobs) == 1 || id != "" && hasLocalJob(jobs) {
		j := jobs[max(slices.IndexFunc(jobs, func(j localJob) bool { return j.err == nil }), 0)]
		look := func(ctx context.Context) (statusSource, error) {
			return rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: j.Address, Token: j.Token, JobID: cmp.Or(id, j.status.JobID)})
		}
		return a.showJob(ctx, c, look, j.Address)
	}
	for _, j := range jobs {
		if j.err != nil {
			notice(fmt.Sprintf("%s (pid %d): %v", j.Command, j.PID, j.err))
		}
	}
	jobs = slices.DeleteFunc(jobs, func(j localJob) bool { return j.err != nil })
	switch {
	case id != "":
		return exitcode.With(exitcode.Retry, fmt.Errorf("no job %s of yours on this host", id))
	case len(jobs) == 0:
		notice("no job of yours on this host")
		return nil
	case c.Bool("watch"):
		return exitcode.With(exitcode.Usage, fmt.Errorf("%s of yours on this host, want one for --watch: %s", plural(len(jobs), "job"), idsOf(jobs)))
	case wantsJSON(c, a.getenv):
		return listJSON(a.stdout, jobs)
	}
	return listTable(a.stdout, jobs)
}

func idsOf(jobs []localJob) string {
	var ids []string
	for _, j := range jobs {
		ids = append(ids, cmp.Or(j.status.JobID, "-"))
	}
	return strings.Join(ids, ", ")
}

// listTable writes a line for each job.
func listTable(w io.Writer, jobs []localJob) error {
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tcommand\tphase\tranks\tstep\tsince\taddress")
	for _, j := range jobs {
		s := j.status
		fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%s\t%s\t%s\n", cmp.Or(s.JobID, "-"), j.Command, s.Phase, s.Present, s.WorldSize, stepText(s.Step),
			j.Since.Local().Format(time.DateTime), j.Address)
	}
	t.Flush() // to memory
	_, err := w.Write(b.Bytes())
	return err
}

// listedJob is the event of a job of this host.
type listedJob struct {
	jobStatus
	Command    string    `json:"command"`
	Rendezvous string    `json:"rendezvous"`
	PID        int       `json:"pid"`
	Since      time.Time `json:"since"`
}

// listJSON writes one object for each job.
func listJSON(w io.Writer, jobs []localJob) error {
	var errs []error
	for _, j := range jobs {
		line, err := eventLine(listedJob{statusEvent(j.status), j.Command, j.Address, j.PID, j.Since.UTC()}, time.Now())
		if err != nil {
			return exitcode.With(exitcode.Internal, err)
		}
		_, err = w.Write(line)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// advertise publishes the rendezvous of this process for `ringtrain status` until remove
// is called. A failure does not prevent training.
func (a *app) advertise(command, address string, secret token.Token) (remove func()) {
	remove, err := joblist.Add(a.getenv, command, address, secret)
	if err != nil {
		fmt.Fprintf(a.stderr, "ringtrain status will not find this job without an address: %v\n", err)
		return func() {}
	}
	return remove
}
