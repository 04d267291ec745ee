package place

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/internal/environ"
)

// Flags are the flags of the command line that concern the place of this worker.
type Flags struct {
	Rank       int    // -1: none
	WorldSize  int    // 0: none
	Rendezvous string // host:port
	Listen     string // ADDR[:PORT[-PORT]]
	JobID      string
	HostID     string // name of this host; "": detected
}

// Place is the place of a worker among the workers of its job, and the address of their
// rendezvous.
type Place struct {
	Rank, WorldSize      int      // Rank -1: the rendezvous assigns one
	LocalRank, LocalSize int      // -1, 0 if unknown
	Rendezvous           string   // host:port; "" for world size 1, and with a PMI until Learn
	Launcher             string   // of world size 1: where a fault is reported, or ""
	PMI                  *PMI     // how Learn asks mpiexec; nil: the place is complete
	AtRank0              bool     // rank 0 serves the rendezvous
	Serve                bool     // this worker serves the rendezvous, on Listen
	Listen               string   // where this worker listens: host:port, host:lo-hi or host:0; "" for world size 1
	Listed               []string // configured address of every rank (TF_CONFIG), or nil
	JobID                string   // "": the first join draws one
	HostID               string   // name of this host: ranks with the same name share memory; "": detected
	Source               string   // "TF_CONFIG", "RANK/WORLD_SIZE", "Open MPI", UnderRun, … or ""
	Notices              []string // lines for people; rank 0 alone has those that concern the whole job
	NotNeeded            string   // not "": this process (a ps or evaluator of TF_CONFIG) has nothing to do; print this and exit with 0
}

// AgreeLines returns the key=value lines of p that must be equal on all ranks.
func (p Place) AgreeLines() []string {
	if p.Listed == nil {
		return nil
	}
	return []string{"TF_CONFIG.cluster=" + strings.Join(p.Listed, ",")}
}

// Find returns the place of the worker with these variables and flags. getenv looks up one
// variable; variables lists all of them as NAME=value.
//
// A rank with a world size, by flag or as RINGTRAIN_RANK and RINGTRAIN_WORLD_SIZE, silences
// every dialect. So does a world size of 1 by flag. Without a dialect and without either of
// the two the world size is 1. A dialect that is incomplete or wrong is exitcode.Usage. So are
// two dialects that differ, and a launcher in no list that tells no address.
//
// Find reads the environment and nothing else. Under MPICH's mpiexec [Place.Learn] must
// complete the place.
func Find(getenv func(string) string, variables []string, f Flags) (Place, error) {
	p, err := find(environ.New(getenv, variables), f)
	return p, exitcode.With(exitcode.Usage, err)
}

// find is Find without the exit code.
func find(e environ.Vars, f Flags) (Place, error) {
	g, err := findExplicitPlace(e, f)
	if err != nil {
		return Place{}, err
	}
	if g.rank >= 0 {
		c, err := g.claim(e)
		if err != nil {
			return Place{}, err
		}
		return complete(c, g)
	}
	if f.WorldSize == 1 {
		return complete(g.sizeClaims()[0], g)
	}
	c, err := detectPlace(e, g)
	if err != nil {
		return Place{}, err
	}
	return complete(c, g)
}

// Launched reports whether a launcher has started this process: what it prints goes into a
// log, even if its output is a terminal. If the launcher has started others, too, by is what it says.
func Launched(getenv func(string) string, variables []string) (by string, launched bool) {
	e := environ.New(getenv, variables)
	c, err := detectPlace(e, explicitPlace{})
	if c.WorldSize > 1 && !e.Any("RINGTRAIN_RANK") {
		by = c.Source + " says " + c.describe()
	}
	return by, e.Any("RINGTRAIN_RANK") || err != nil || c.Source != ""
}

// Meeting is Find for a rank whose own place may be wrong, so that it can tell the others: if need
// be it passes over the rank's listen address, its host id and its numbers on its host, and then over
// its rank, which is -1.
func Meeting(getenv func(string) string, variables []string, f Flags) (Place, error) {
	shared := func(name string) string {
		if strings.Contains(name, "LOCAL") || name == "RINGTRAIN_HOST_ID" {
			return ""
		}
		return getenv(name)
	}
	nobody := func(name string) string {
		isRank := func(d dialect) bool { return slices.Contains(strings.Split(d.numbers.rank, "|"), name) }
		if getenv(name) != "" && (name == "RINGTRAIN_RANK" || slices.ContainsFunc(dialects, isRank)) {
			return "0"
		}
		return shared(name)
	}
	p, err := Find(getenv, variables, f)
	if err != nil {
		f.Listen, f.HostID = "", ""
		p, err = Find(shared, variables, f)
	}
	if err != nil {
		f.Rank = -1
		p, err = Find(nobody, variables, f)
		p.Rank, p.Serve = -1, false
	}
	return p, err
}

// complete makes a place of the claim c and the explicit values g.
func complete(c claim, g explicitPlace) (Place, error) {
	p := c.Place
	if p.WorldSize > ring.MaxWorldSize {
		return Place{}, fmt.Errorf("world size is %d (from %s), want at most %d", p.WorldSize, p.Source, ring.MaxWorldSize)
	}
	if g.jobID != "" {
		p.JobID = g.jobID
	}
	p.HostID = g.hostID
	if p.NotNeeded != "" {
		return p, nil
	}
	if p.WorldSize == 1 {
		p.Rank, p.LocalRank, p.LocalSize = 0, 0, 1
		p.Listen, p.PMI = "", nil
		p.Launcher = g.rendezvous
		return p, nil
	}
	at := cmp.Or(g.rendezvous, c.rendezvous)
	switch {
	case at != "" && p.Rank >= p.WorldSize:
		return Place{}, fmt.Errorf("%s says %s, want a rank from 0 to %d", p.Source, c.describe(), p.WorldSize-1)
	case at != "":
		p.PMI = nil
		return p.withRendezvous(at, at == c.rendezvous, g.listen)
	case p.PMI != nil:
		p.PMI.Listen = g.listen
		return p, checkListenFlag(g.listen)
	}
	return Place{}, c.missing
}

// withRendezvous completes a place whose rendezvous is known.
func (p Place) withRendezvous(rendezvous string, atRank0 bool, listenFlag string) (Place, error) {
	p.Rendezvous, p.AtRank0 = rendezvous, atRank0
	p.Serve = p.Rank == 0 && atRank0
	return p.withListen(listenFlag)
}

// withListen fills in Listen. Without --listen the address is the configured one, or that
// of the rendezvous that p serves, or any free port.
func (p Place) withListen(flag string) (Place, error) {
	at := p.Listen
	switch {
	case at != "":
	case p.Serve:
		at = listenAt(p.Rendezvous)
	case isLoopback(p.Rendezvous):
		at = "127.0.0.1:0"
	default:
		at = ":0"
	}
	if flag != "" {
		if err := checkListenFlag(flag); err != nil {
			return Place{}, err
		}
		l, _ := parseListen(flag)
		if l.ports == "" {
			_, l.ports, _ = net.SplitHostPort(at)
		}
		at = net.JoinHostPort(l.host, l.ports)
	}
	if p.Rank == 0 && at == p.Rendezvous {
		p.Serve, p.AtRank0 = true, true // no other worker could listen there
	}
	p.Listen = at
	if p.Serve {
		return p.withOnePort()
	}
	return p, nil
}

// withOnePort replaces a range of ports by the port of the rendezvous, where the others
// look for it.
func (p Place) withOnePort() (Place, error) {
	host, ports, _ := net.SplitHostPort(p.Listen)
	_, port, _ := net.SplitHostPort(p.Rendezvous)
	lo, hi, err := portRange(ports)
	if err != nil {
		return Place{}, err
	}
	if n, _ := strconv.Atoi(port); n < lo || n > hi {
		return Place{}, fmt.Errorf("--listen %s leaves out port %s, where rank 0 serves the rendezvous %s", p.Listen, port, p.Rendezvous)
	}
	p.Listen = net.JoinHostPort(host, port)
	return p, nil
}

// KnownAs returns the address by which the others reach a worker that listens at addr. The
// configured address of the worker counts, if there is one. Rank 0 counts by the address of
// its rendezvous: its own name for its host (127.0.1.1, on Debian) means something else on
// the others.
func (p Place) KnownAs(addr string) string {
	switch {
	case p.Rank >= 0 && p.Rank < len(p.Listed):
		return p.Listed[p.Rank]
	case p.Serve:
		return p.Rendezvous
	}
	return addr
}
