package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/bench"
	"ringtrain/bench/child"
	"ringtrain/bench/peers"
	"ringtrain/bench/speed"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
)

// Values of options. --short also means fewer sizes.
const (
	peersHosts       = 4 // hosts of --only hosts
	peersRounds      = 7
	peersLimit       = 20 * time.Minute // enough for two rounds on two cores
	peersShortRounds = 3
	peersShortLimit  = 100 * time.Second // on one host; the last part may exceed it by half a minute
	hostsShortLimit  = 20 * time.Second
)

// runBenchPeers compares ringtrain with other libraries.
func runBenchPeers(a *app, c *cli.Context) error {
	suites := map[string]speed.Suite{"train": speed.Images, "clicks": speed.Clicks} // of training
	if suite, ok := suites[c.String("only")]; ok {
		return benchPeersTrain(a, c, suite)
	}
	if err := refuse(c, "is for --only train or clicks", "cases", "kernels", "turn", "data"); err != nil {
		return err
	}
	config := peers.Config{
		Hosts: c.Int("hosts"), PerHost: c.Int("per-host"), Rate: c.String("rate"),
		Only: c.String("only"), Short: c.Bool("short"), Rounds: peersRounds, Limit: peersLimit,
	}
	if config.Only == peers.PartHosts && !c.IsSet("hosts") {
		config.Hosts = peersHosts
	}
	if err := checkHostOptions(c, config.Hosts); err != nil {
		return err
	}
	if config.Short {
		config.Rounds, config.Limit = peersShortRounds, peersShortLimit
		if config.Hosts > 0 {
			config.Limit = hostsShortLimit
		}
	}
	if c.IsSet("rounds") {
		config.Rounds, config.Limit = c.Int("rounds"), 0
	}
	to, err := comparison(a, c)
	if err != nil {
		return err
	}
	return (&peers.Runner{Output: to}).Compare(a.ctx, config)
}

// checkHostOptions checks the options that need --hosts.
func checkHostOptions(c *cli.Context, hosts int) error {
	var errs []error
	for _, name := range []string{"per-host", "rate"} {
		if c.IsSet(name) && hosts == 0 {
			errs = append(errs, fmt.Errorf("--%s is %v, want none without --hosts", name, c.Value(name)))
		}
	}
	if _, err := bench.ParseWire(c.String("rate")); err != nil {
		errs = append(errs, fmt.Errorf("--%w", err))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// refuse returns an error with a reason for each of the options that is set.
func refuse(c *cli.Context, why string, names ...string) error {
	var errs []error
	for _, name := range names {
		if c.IsSet(name) {
			errs = append(errs, fmt.Errorf("--%s is %v, want none: it %s", name, c.Value(name), why))
		}
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// comparison returns where a comparison prints: in the form that --json selects. Ctrl-C and TERM end
// its processes.
func comparison(a *app, c *cli.Context) (child.Output, error) {
	self, err := process.Self()
	if err != nil {
		return child.Output{}, exitcode.With(exitcode.Internal, err)
	}
	a.ctx, _ = catchSignals(a.ctx, a.stderr)
	out := a.newReporter(c, 0)
	to := child.Output{
		Program: self,
		Print:   func(line string) { fmt.Fprintln(out.People, line) },
		Log:     a.notice,
	}
	if out.JSON {
		to.Event = out.Emit
	}
	return to, nil
}
