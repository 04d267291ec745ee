package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/joblist"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

func statusCommand() command {
	return command{
		name: "status", takes: words{0, 1, "the address of a rendezvous, a job of this host, or none"}, args: "[ADDR|JOBID]", flags: []cli.Flag{option("json"), option("watch"), option("job-id")}, run: runStatus,
		usage:    "who is there, step, speed, and who waits for whom",
		about:    "Shows who is there, step, speed, and who waits for whom. Without a word: of your job on this host, or a list of your jobs; JOBID is one of these. ADDR is the rendezvous of the start event. There it takes the job's token: RINGTRAIN_TOKEN_FILE, RINGTRAIN_TOKEN, or that of ringtrain token. Without an address it takes none.",
		examples: []string{"ringtrain status", "ringtrain status --watch", "ringtrain status host-a:41234 --json"},
	}
}

func runStatus(a *app, c *cli.Context) error {
	token.NoCore()
	ctx, _ := catchSignals(a.ctx, a.stderr)
	word := c.Args().First()
	if word == "" {
		return a.localStatus(ctx, c, c.String("job-id"))
	}
	if !strings.ContainsAny(word, ":/") && slices.ContainsFunc(joblist.Jobs(ctx, word, func(string) {}), answers) { // otherwise the word is an address
		return a.localStatus(ctx, c, word)
	}
	look, err := a.openStatus(word, c.String("job-id"))
	if err != nil {
		return err
	}
	return a.showJob(ctx, c, look, joblist.Entry{Address: word})
}

// showJob writes the status of a job once or, with --watch, repeatedly. of has no command if the job is
// known by its address alone.
func (a *app) showJob(ctx context.Context, c *cli.Context, look func(context.Context) (joblist.Source, error), of joblist.Entry) error {
	write := func(all []rendezvous.Status) error {
		var jobs []joblist.Job
		for _, s := range all {
			jobs = append(jobs, joblist.Job{Entry: of, Status: s})
		}
		if wantsJSON(c, a.getenv) {
			return show.JobJSON(show.Verbatim(a.out), jobs)
		}
		return show.StatusTable(a.stdout, jobs)
	}
	if c.Bool("watch") {
		w := &joblist.Watcher{Look: look, Show: write, Notice: a.notice}
		return w.Run(ctx)
	}
	l, err := look(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	all, err := l.Next(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return noJob(of.Address, c.String("job-id"))
	}
	return write(all)
}

// openStatus returns a function that opens the status of the jobs of a rendezvous.
func (a *app) openStatus(addr, jobID string) (func(context.Context) (joblist.Source, error), error) {
	if err := place.CheckRemoved(addr); err != nil {
		return nil, err
	}
	secret, err := token.Find(a.getenv)
	if err != nil {
		return nil, err
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		addr = net.JoinHostPort(addr, place.DefaultPort)
	}
	if secret, err = place.TokenFor(addr, secret, false); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (joblist.Source, error) {
		l, err := rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: addr, Token: secret, JobID: jobID})
		if exitcode.Of(err) == exitcode.Auth {
			err = fmt.Errorf("%w: set RINGTRAIN_TOKEN_FILE to a file of the job's token; `ringtrain status` without an address, by the same user on the launcher's host, needs none", err)
		}
		return l, err
	}, nil
}

func noJob(addr, id string) error {
	if id == "" {
		return exitcode.With(exitcode.Retry, fmt.Errorf("the rendezvous at %s has no job", addr))
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("the rendezvous at %s has no job %s", addr, id))
}

// answers reports whether the rendezvous of j has answered.
func answers(j joblist.Job) bool { return j.Err == nil }

// localStatus shows the job of this host with an id, or the only job, or a list of all.
func (a *app) localStatus(ctx context.Context, c *cli.Context, id string) error {
	jobs := joblist.Jobs(ctx, id, a.notice)
	if first := slices.IndexFunc(jobs, answers); len(jobs) == 1 || id != "" && first >= 0 {
		j := jobs[max(first, 0)]
		look := func(ctx context.Context) (joblist.Source, error) {
			return rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: j.Address, Token: j.Token, JobID: cmp.Or(id, j.Status.JobID)})
		}
		return a.showJob(ctx, c, look, j.Entry)
	}
	for _, j := range jobs {
		if !answers(j) {
			a.notice(fmt.Sprintf("%s (pid %d): %v", j.Command, j.PID, j.Err))
		}
	}
	jobs = slices.DeleteFunc(jobs, func(j joblist.Job) bool { return !answers(j) })
	switch {
	case id != "":
		return exitcode.With(exitcode.Retry, fmt.Errorf("no job %s of yours on this host", id))
	case len(jobs) == 0:
		a.notice("no job of yours on this host")
		return nil
	case c.Bool("watch"):
		return exitcode.With(exitcode.Usage, fmt.Errorf("%s of yours on this host, want one for --watch: %s", phrase.Count(len(jobs), "job"), idsOf(jobs)))
	case wantsJSON(c, a.getenv):
		return show.JobJSON(show.Verbatim(a.out), jobs)
	}
	return show.JobTable(a.stdout, jobs)
}

func idsOf(jobs []joblist.Job) string {
	var ids []string
	for _, j := range jobs {
		ids = append(ids, cmp.Or(j.Status.JobID, "-"))
	}
	return strings.Join(ids, ", ")
}
