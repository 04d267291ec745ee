package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"ringtrain/ring/joblist"
	"ringtrain/ring/join"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

func rendezvousCommand() command {
	return command{
		name: "rendezvous", usage: "the rendezvous alone, for schedulers",
		about:    "Serves the rendezvous of one job alone, for schedulers. It ends with the job.",
		examples: []string{"ringtrain rendezvous --listen :7000 --world-size 4"},
		flags:    []cli.Flag{option("listen"), option("world-size"), option("job-id"), option("start-timeout"), option("insecure"), option("restarts"), option("lease")},
		run:      runRendezvous,
	}
}

func runRendezvous(a *app, c *cli.Context) error {
	token.NoCore()
	secret, err := token.Find(a.getenv)
	if err != nil {
		return err
	}
	at, err := place.RendezvousAddress(c.String("listen"), secret.Set())
	if err == nil {
		secret, err = place.TokenFor(at, secret, c.Bool("insecure"))
	}
	if err != nil {
		return err
	}
	alone, err := join.Serve(at, c.Bool("insecure"), rendezvous.ServerConfig{
		WorldSize: c.Int("world-size"), JobID: c.String("job-id"), Token: secret,
		StartTimeout: c.Duration("start-timeout"), Restarts: c.Int("restarts"), Lease: c.Duration("lease"),
		Notice: a.notice,
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stderr, "rendezvous on "+alone.Addr())
	defer a.advertise("rendezvous", alone.Addr(), secret)()
	ctx, _ := catchSignals(a.ctx, a.stderr)
	return alone.Wait(ctx)
}

// advertise publishes the rendezvous of this process for `ringtrain status` until remove
// is called. A failure does not prevent training.
func (a *app) advertise(command, address string, secret token.Token) (remove func()) {
	remove, err := joblist.Add(joblist.Entry{Command: command, Address: address, Token: secret, Dashboard: a.watch.link(), History: a.history})
	if err != nil {
		fmt.Fprintf(a.stderr, "ringtrain status will not find this job without an address: %v\n", err)
		return func() {}
	}
	return remove
}
