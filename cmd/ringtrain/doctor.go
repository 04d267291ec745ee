package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/doctor"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

func doctorCommand() command {
	return command{
		name: "doctor", takes: words{0, 1, "one job or none"}, args: "[-H HOST,…] [JOB]",
		usage:    "can the hosts reach each other, how fast, and what is wrong with them",
		about:    "Checks whether the hosts reach each other and how fast, and what is wrong with them: clocks, limits, disks, versions, tokens. Takes the hosts of -H, or runs under any launcher.",
		examples: []string{"ringtrain doctor -H host-a,host-b", "ringtrain doctor -H host-a,host-b job.yaml", "srun -N 4 ringtrain doctor"},
		flags:    doctorFlags(), run: runDoctor,
	}
}

// runDoctor examines as one rank, or with hosts starts a rank on each host.
func runDoctor(a *app, c *cli.Context) error {
	surviveClosedPipes()
	if namesHosts(c) {
		return doctorOnHosts(a, c)
	}
	place, err := a.findPlace(c)
	if err != nil || !a.needed(place) {
		return err
	}
	out := a.newReporter(c, place.Rank)
	writes, err := a.jobWrites(c)
	if err != nil {
		return out.ExaminationFailed(err)
	}
	meet, err := a.meetConfig(c, place, out)
	if err != nil {
		return out.ExaminationFailed(err)
	}
	meet.StartTimeout = cmp.Or(meet.StartTimeout, doctor.DefaultLimit)
	meet.Agree = place.AgreeLines()
	return a.examine(place, meet, writes, out)
}

// jobWrites returns the locations that the job writes to, none without a job.
func (a *app) jobWrites(c *cli.Context) ([]doctor.Write, error) {
	if c.NArg() == 0 {
		return nil, nil
	}
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return nil, err
	}
	var writes []doctor.Write
	for _, w := range []doctor.Write{
		{Key: "checkpoint.dir", Path: job.Checkpoint.Dir}, {Key: "export.savedmodel", Path: job.Export.SavedModel}, {Key: "summary.dir", Path: job.Summary.Dir},
	} {
		if w.Path != "" {
			writes = append(writes, w)
		}
	}
	return writes, nil
}

// examine joins the other ranks and examines the hosts with them. All ranks end with the
// verdict's code. Rank 0 prints the verdict. The other ranks print its worst finding, with which
// rank 0 ends the group, unless they share rank 0's output.
func (a *app) examine(p place.Place, meet join.Config, writes []doctor.Write, out *show.Reporter) error {
	began := time.Now()
	g, err := join.Gather(a.ctx, p, meet)
	if err != nil {
		return out.ExaminationFailed(err)
	}
	defer g.Close()
	m := g.Membership()
	out.Rank = m.Rank
	if out.Rank != 0 {
		writes = nil // only rank 0 writes
	}
	sets := model.KernelSets()
	host := doctor.Inspect(version, sets[len(sets)-1], writes)
	host.TokenID, host.TokenFault = tokenOf(p, meet.Token)
	r, err := doctor.Examine(g.Context(), doctor.Config{
		Membership: m, Links: g.Links(), Token: meet.Token, Limit: meet.StartTimeout,
		Host: host,
	})
	took := time.Since(began)
	if r != nil {
		v := r.Verdict()
		if v.Well() {
			g.Leave(g.Context()) // the findings are complete: the others need not wait for the output of this rank
		} else {
			g.Abort(v.Cause())
		}
		out.Examined(r, v, took)
		return out.Silent(v.Code)
	}
	if err == nil {
		err = g.Leave(g.Context())
	}
	switch {
	case err == nil:
		return nil
	case p.Source == place.UnderRun:
		return out.Silent(exitcode.Of(err))
	}
	return out.ExaminationFailed(ring.CauseOf(err, m.Rank, m.Self().Host, -1).WithCode())
}

// tokenOf returns the id of the token by which a rank of this host proves itself under other launchers
// than `run`, which draws one for each job, or why that token cannot be used.
func tokenOf(p place.Place, used token.Token) (id, fault string) {
	if p.Source == place.UnderRun {
		var err error
		if used, err = token.Own(); err != nil {
			return "", err.Error()
		}
	}
	return used.ID().String(), ""
}

// doctorOnHosts starts one rank of this command on each host. If some hosts cannot run it, a
// person still sees what the others find.
func doctorOnHosts(a *app, c *cli.Context) error {
	out := a.newReporter(c, 0)
	cfg, err := a.doctorConfig(c)
	if err != nil {
		return out.ExaminationFailed(err)
	}
	cfg.Bare, cfg.Read = true, out.Verdict
	readRanks(a, &cfg, out)
	res, err := a.launchWith(cfg, c.String("interface"), rendezvous.ServerConfig{StartTimeout: cfg.StartTimeout, Notice: cfg.Notice})
	if err == nil && (res.Code == exitcode.OK || !res.Unread && out.Told()) {
		return out.Silent(res.Code)
	}
	if err == nil {
		err = exitcode.With(res.Code, errors.New(res.Text))
	}
	if res.Unread {
		return out.Reported(err) // standard error has no reader either
	}
	if reached := withoutHosts(cfg.Hosts, launch.FailedHosts(err)); !out.JSON && len(reached) > 0 && len(reached) < len(cfg.Hosts) {
		cfg.Notice(fmt.Sprintf("%s cannot run ranks, as the last lines say; this is about the others", phrase.Count(len(cfg.Hosts)-len(reached), "host")))
		cfg.Hosts, cfg.NP = reached, len(reached)
		_, other := a.launchWith(cfg, c.String("interface"), rendezvous.ServerConfig{StartTimeout: cfg.StartTimeout, Notice: cfg.Notice})
		err = errors.Join(err, other)
	}
	return out.ExaminationFailed(err)
}

// withoutHosts returns a list without the hosts at some indices.
func withoutHosts(list []hosts.Host, without []int) []hosts.Host {
	var rest []hosts.Host
	for i, h := range list {
		if !slices.Contains(without, i) {
			rest = append(rest, h)
		}
	}
	return rest
}

// doctorConfig returns the configuration of one rank of this command on each host.
func (a *app) doctorConfig(c *cli.Context) (launch.Config, error) {
	cfg, err := launchConfig(a, c)
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, doctor.DefaultLimit)
	if err = cmp.Or(err, a.hostsOf(c, &cfg)); err != nil {
		return cfg, err
	}
	for i := range cfg.Hosts {
		cfg.Hosts[i].Slots = 1
	}
	cfg.NP = len(cfg.Hosts)
	words := append([]string{"doctor", "--start-timeout=" + cfg.StartTimeout.String()}, optionsGiven(c, []cli.Flag{option("set")})...)
	return cfg, runSelf(&cfg, append(words, c.Args().Slice()...)...)
}
