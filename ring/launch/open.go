package launch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
	"ringtrain/ring/token"
)

// openHosts prepares all hosts for the start of ranks. Its error names all hosts that
// cannot be reached. A signal that asks to end stops it, as does the end of ctx.
func (l *launcher) openHosts(ctx context.Context) error {
	c := l.config
	list := c.Hosts
	if len(list) == 0 {
		list = []hosts.Host{{Name: "localhost", Local: true}}
	}
	l.hosts = make([]host, len(list))
	at := c.Rendezvous
	if others := l.remoteTargets(list); len(others) > 0 {
		if err := l.openRemote(ctx, others); err != nil {
			return err
		}
		first := l.hosts[others[0].host].(*remoteHost)
		at = localRendezvous(c.Reach, first.login.hello.Rendezvous, at)
	}
	file := c.Token.File
	if file == "" && slices.ContainsFunc(list, func(h hosts.Host) bool { return h.Local }) {
		var err error
		if l.secret, err = c.Token.Hold(); err != nil {
			return token.WantFile(err)
		}
		file = l.secret.Path
	}
	for i, h := range list {
		if h.Local {
			l.hosts[i] = &localHost{
				env: c.localEnv(at, file), dir: c.Dir, bind: c.Bind, cores: process.OwnCores(), grace: c.Grace, input: l.input.file, guard: l.guard,
				output: l.outputs.write, post: l.post, ranks: map[int]*process.Child{},
			}
		}
	}
	l.announce()
	return nil
}

// remoteTargets returns the hosts to log in to: other hosts that have ranks.
func (l *launcher) remoteTargets(hosts []hosts.Host) []target {
	ranks := make([]int, len(hosts))
	for _, s := range l.assignments {
		ranks[s.Host]++
	}
	var list []target
	for i, h := range hosts {
		if !h.Local && ranks[i] > 0 {
			list = append(list, l.target(i))
		}
	}
	return list
}

// localRendezvous returns the address of the rendezvous for ranks on its own host. They
// tell the others the address that they reach it by. It is therefore the address that
// another host has reached, if that is one of reach, and never the loopback.
func localRendezvous(reach []string, other, loopback string) string {
	switch {
	case slices.Contains(reach, other):
		return other
	case len(reach) > 0:
		return reach[0]
	}
	return loopback
}

// target returns the host of an index as one to log in to.
func (l *launcher) target(host int) target {
	return target{host, l.config.Hosts[host].Name, min(l.config.Hosts[host].Slots, len(l.assignments))}
}

// dialer returns a dialer.
func (l *launcher) dialer() (*dialer, error) {
	c := l.config
	self, err := process.Self()
	if err != nil {
		return nil, exitcode.With(exitcode.Internal, err)
	}
	dir, must := c.Dir, c.Dir != ""
	if !must {
		dir, _ = os.Getwd() // "": a folder that no host has
	}
	d := &dialer{
		ssh: c.SSH, self: self, guard: l.guard, turns: make(chan struct{}, cmp.Or(c.Fanout, len(c.Hosts))),
		orders: orders{
			Protocol: agentProtocol, Version: c.Version, Rendezvous: c.Reach, Behind: c.Behind,
			Token: c.Token.Reveal(), Env: c.remoteEnv(), Dir: dir, MustDir: must, Bind: c.Bind, Grace: c.Grace,
		},
	}
	if c.Push {
		p, err := hashSelf(self)
		if err != nil {
			return nil, err
		}
		d.push = &p
	}
	return d, nil
}

// announce tells people how many ranks start on how many hosts, and on which cores.
func (l *launcher) announce() {
	ranks := make([][]hosts.Assignment, len(l.hosts))
	used := 0
	for _, s := range l.assignments {
		if len(ranks[s.Host]) == 0 {
			used++
		}
		ranks[s.Host] = append(ranks[s.Host], s)
	}
	if !l.config.Quiet && l.config.Read == nil { // the Reader tells the ranks
		l.config.tell(fmt.Sprintf("%s on %s", phrase.Count(len(l.assignments), "rank"), phrase.Count(used, "host")))
	}
	if l.config.Bind != process.BindCore {
		return
	}
	for i := range l.hosts {
		if len(ranks[i]) > 0 {
			l.announceBinding(i, ranks[i])
		}
	}
}

// announceBinding tells people the cores of the ranks of a host.
func (l *launcher) announceBinding(index int, ranks []hosts.Assignment) {
	var name string
	var cores []int
	switch h := l.hosts[index].(type) {
	case *localHost:
		name, _ = os.Hostname()
		cores = h.cores
	case *remoteHost:
		name, cores = h.login.target.name, h.login.hello.Cores
	}
	if !l.config.Quiet || len(cores) == 0 {
		l.config.tell(bindingText(name, ranks, cores))
	}
}

// closeHosts closes all logins at the same time, and removes the token's file.
func (l *launcher) closeHosts() {
	l.failover.cancel()
	l.failover.dials.Wait()
	var closing sync.WaitGroup
	for _, g := range l.logins {
		closing.Go(g.close)
	}
	closing.Wait()
	l.secret.Close()
}

// bindingText tells people which rank of a host has which cores.
func bindingText(host string, ranks []hosts.Assignment, cores []int) string {
	if len(cores) == 0 {
		return fmt.Sprintf("%s on %s: cores are not known there, ranks are not bound", phrase.Count(len(ranks), "rank"), host)
	}
	each := ""
	if !slices.ContainsFunc(ranks, func(s hosts.Assignment) bool { return s.LocalSize != ranks[0].LocalSize }) { // else they began at different times
		share := float64(len(cores)) / float64(ranks[0].LocalSize)
		each = fmt.Sprintf(", %.3g cores each", share)
		if share == 1 {
			each = ", 1 core each"
		}
	}
	var where []string
	for _, s := range ranks {
		where = append(where, fmt.Sprintf("rank %d on %s", s.Rank, process.CoresText(process.Share(cores, s.LocalRank, s.LocalSize))))
	}
	return fmt.Sprintf("%s on %s%s: %s", phrase.Count(len(ranks), "rank"), host, each, strings.Join(where, ", "))
}
