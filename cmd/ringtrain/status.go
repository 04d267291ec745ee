package main

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

func statusCommand() command {
	return command{
		name: "status", args: "[ADDR|JOBID]", flags: []cli.Flag{jsonFlag(), watchFlag(), jobIDFlag()}, run: (*app).status,
		usage:    "who is there, step, speed, and who waits for whom",
		about:    "Shows who is there, step, speed, and who waits for whom. Without a word: of your job on this host, or a list of your jobs; JOBID is one of these. ADDR is the rendezvous of the start event. There it takes the job's token: RINGTRAIN_TOKEN, or that of ringtrain token.",
		examples: []string{"ringtrain status", "ringtrain status --watch", "ringtrain status host-a:41234 --json"},
	}
}

func (a *app) status(c *cli.Context) error {
	if err := wantArgs(c, 0, 1, "the address of a rendezvous, a job of this host, or none"); err != nil {
		return err
	}
	ctx, _ := catchSignals(a.ctx, a.stderr)
	word := c.Args().First()
	if word == "" {
		return a.localStatus(ctx, c, c.String("job-id"))
	}
	if !strings.ContainsAny(word, ":/") && hasLocalJob(a.localJobs(ctx, word, nil)) { // otherwise the word is an address
		return a.localStatus(ctx, c, word)
	}
	look, err := a.openStatus(word, c.String("job-id"))
	if err != nil {
		return err
	}
	return a.showJob(ctx, c, look, word)
}

// showJob shows the status of a job once or, with --watch, repeatedly. at names the
// rendezvous in messages.
func (a *app) showJob(ctx context.Context, c *cli.Context, look func(context.Context) (statusSource, error), at string) error {
	show := func(all []rendezvous.Status) error { return showTable(a.stdout, all) }
	if wantsJSON(c, a.getenv) {
		show = func(all []rendezvous.Status) error { return showJSON(a.stdout, all) }
	}
	if c.Bool("watch") {
		w := &watcher{look: look, show: show, notice: func(text string) { fmt.Fprintln(a.stderr, text) }}
		return w.run(ctx)
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
		return noJob(at, c.String("job-id"))
	}
	return show(all)
}

// openStatus returns a function that opens the status of the jobs of a rendezvous.
func (a *app) openStatus(addr, jobID string) (func(context.Context) (statusSource, error), error) {
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
	return func(ctx context.Context) (statusSource, error) {
		return rendezvous.DialStatus(ctx, rendezvous.StatusOptions{Addr: addr, Token: secret, JobID: jobID})
	}, nil
}

func noJob(addr, id string) error {
	if id == "" {
		return exitcode.With(exitcode.Retry, fmt.Errorf("the rendezvous at %s has no job", addr))
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("the rendezvous at %s has no job %s", addr, id))
}

func allEnded(all []rendezvous.Status) bool {
	for _, s := range all {
		if !s.Ended() {
			return false
		}
	}
	return len(all) > 0
}
