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

// hereTime bounds the wait for a rendezvous on this host, while others are asked, too.
const hereTime = 2 * time.Second

// jobHere is a job whose rendezvous a process of this user's on this host serves.
type jobHere struct {
	joblist.Entry
	status rendezvous.Status
	err    error // it does not answer; nothing is known but the Listing
}

// isJobHere reports whether one of jobs has answered.
func isJobHere(jobs []jobHere) bool {
	return slices.ContainsFunc(jobs, func(j jobHere) bool { return j.err == nil })
}

// jobsHere asks all rendezvous of this user's on this host for their jobs, or for the one of
// an id, "" for all. Only people who are told, by notice, learn what cannot be read.
func (a *app) jobsHere(ctx context.Context, id string, notice func(string)) []jobHere {
	list, faults := joblist.Read(a.getenv)
	for _, err := range faults {
		if notice != nil {
			notice(err.Error())
		}
	}
	answers := make([][]jobHere, len(list))
	var asking sync.WaitGroup
	for i, l := range list {
		asking.Go(func() { answers[i] = askHere(ctx, l, id) })
	}
	asking.Wait()
	all := slices.Concat(answers...)
	slices.SortStableFunc(all, func(x, y jobHere) int { return x.Since.Compare(y.Since) })
	return all
}

// askHere asks one rendezvous.
func askHere(ctx context.Context, l joblist.Entry, id string) []jobHere {
	at, err := rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: l.Address, Token: l.Token, JobID: id, Timeout: hereTime})
	if err != nil {
		return []jobHere{{Entry: l, err: err}}
	}
	defer at.Close()
	all, err := at.Next(ctx)
	if err != nil {
		return []jobHere{{Entry: l, err: err}}
	}
	jobs := make([]jobHere, len(all))
	for i, s := range all {
		jobs[i] = jobHere{Entry: l, status: s}
	}
	return jobs
}

// statusHere shows the job of this host that has an id, or the only one, or a list of all.
func (a *app) statusHere(ctx context.Context, c *cli.Context, id string) error {
	notice := func(text string) { fmt.Fprintln(a.stderr, text) }
	jobs := a.jobsHere(ctx, id, notice)
	if len(jobs) == 1 || id != "" && isJobHere(jobs) {
		j := jobs[max(slices.IndexFunc(jobs, func(j jobHere) bool { return j.err == nil }), 0)]
		look := func(ctx context.Context) (looker, error) {
			return rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: j.Address, Token: j.Token, JobID: cmp.Or(id, j.status.JobID)})
		}
		return a.showJob(ctx, c, look, j.Address)
	}
	for _, j := range jobs {
		if j.err != nil {
			notice(fmt.Sprintf("%s (pid %d): %v", j.Command, j.PID, j.err))
		}
	}
	jobs = slices.DeleteFunc(jobs, func(j jobHere) bool { return j.err != nil })
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

func idsOf(jobs []jobHere) string {
	var ids []string
	for _, j := range jobs {
		ids = append(ids, cmp.Or(j.status.JobID, "-"))
	}
	return strings.Join(ids, ", ")
}

// listTable writes a line for each job.
func listTable(w io.Writer, jobs []jobHere) error {
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

// listedJob is a job of this host as an object of JSON.
type listedJob struct {
	jobStatus
	Command    string    `json:"command"`
	Rendezvous string    `json:"rendezvous"`
	PID        int       `json:"pid"`
	Since      time.Time `json:"since"`
}

// listJSON writes one object for each job.
func listJSON(w io.Writer, jobs []jobHere) error {
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

// list has status find the rendezvous that this process serves at an address, until remove is
// called. That it cannot is no reason not to train.
func (a *app) list(command, address string, secret token.Token) (remove func()) {
	remove, err := joblist.Add(a.getenv, command, address, secret)
	if err != nil {
		fmt.Fprintf(a.stderr, "ringtrain status will not find this job without an address: %v\n", err)
		return func() {}
	}
	return remove
}
