package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/rendezvous"
)

func statusCommand() command {
	return command{
		name: "status", args: "ADDR", flags: []cli.Flag{jsonFlag(), watchFlag(), jobIDFlag()}, run: (*app).status,
		usage: "who is there, step, speed, and who waits for whom; ADDR is the rendezvous of the start event (a job of run answers if RINGTRAIN_TOKEN, or the token of ringtrain token, was there at its start)",
	}
}

// watchEvery is the time between two looks.
const watchEvery = time.Second

func (a *app) status(c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "the address of a rendezvous"); err != nil {
		return err
	}
	token, err := ring.FindToken(a.getenv)
	if err != nil {
		return err
	}
	addr := c.Args().First()
	if _, _, err := net.SplitHostPort(addr); err != nil {
		addr = net.JoinHostPort(addr, launch.DefaultPort)
	}
	ctx, _ := catchSignals(a.ctx)
	l, err := rendezvous.Look(ctx, rendezvous.LookOptions{Addr: addr, Token: token, JobID: c.String("job-id")})
	if err != nil {
		return err
	}
	defer l.Close()
	show := func(all []rendezvous.Status) error { return showTable(a.stdout, all) }
	if wantsJSON(c, a.getenv) {
		show = func(all []rendezvous.Status) error { return showJSON(a.stdout, all) }
	}
	if c.Bool("watch") {
		return a.watch(ctx, l, show)
	}
	all, err := l.Next(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return noJob(addr, c.String("job-id"))
	}
	return show(all)
}

func noJob(addr, id string) error {
	if id == "" {
		return exitcode.With(exitcode.Retry, fmt.Errorf("the rendezvous at %s has no job", addr))
	}
	return exitcode.With(exitcode.Retry, fmt.Errorf("the rendezvous at %s has no job %s", addr, id))
}

// watch looks again and again until all jobs have ended, or the rendezvous has.
func (a *app) watch(ctx context.Context, l *rendezvous.Looker, show func([]rendezvous.Status) error) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for seen := false; ; seen = true {
		all, err := l.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && seen && exitcode.Of(err) == exitcode.Retry:
			fmt.Fprintln(a.stderr, "the rendezvous has ended")
			return nil
		case err != nil:
			return err
		}
		if err := show(all); err != nil || allEnded(all) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func allEnded(all []rendezvous.Status) bool {
	for _, s := range all {
		if !s.Ended() {
			return false
		}
	}
	return len(all) > 0
}
