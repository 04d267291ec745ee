package peers

import (
	"slices"
	"time"

	"ringtrain/ring/cores"
)

// A step is one work with its contenders and number of turns in each round. Before the
// step, the first contender does the work settling repeatedly, uncounted, for the
// duration settle.
type step struct {
	work       Work
	contenders []Contender
	turns      int // of each contender; 0: 1
	settle     time.Duration
	settling   Work
}

// A suite is a table of Compare with its bars.
type suite struct {
	title    string
	topology Topology
	steps    []step
	bars     []bar
	base     string // contender whose times the ratios refer to; "": ringtrain
}

// The parts of the tables that can be selected.
const (
	PartOneHost = "one-host" // through shared memory, and the copy that is its limit
	PartFlat    = "flat"     // over TCP on loopback
	PartHosts   = "hosts"    // on several hosts
)

// part returns the part of s, a suite of ranks on one host, for PartOneHost or PartFlat,
// and s for any other name. gloo has no shared memory and is in both parts.
func (s suite) part(name string) suite {
	var who []string
	switch name {
	case PartOneHost:
		s.base, who = ours, []string{ours, gloo, mpiMemory, copyLimit}
	case PartFlat:
		s.base, who = ringtrainFlat, []string{ringtrainFlat, ringtrainTLS, gloo, pytorch, mpiTCP}
	default:
		return s
	}
	p := suite{title: s.title + ", " + name, topology: s.topology, base: s.base}
	for _, st := range s.steps {
		st.contenders = slices.DeleteFunc(st.contenders, func(c Contender) bool { return !slices.Contains(who, c.Name) })
		if slices.ContainsFunc(st.contenders, func(c Contender) bool { return c.Name == s.base }) {
			p.steps = append(p.steps, st)
		}
	}
	for _, b := range s.bars {
		if b.ours == s.base {
			p.bars = append(p.bars, b)
		}
	}
	return p
}

// fewRanks returns the world sizes on one host near usual numbers of cores. manyRanks is
// unusual but must work.
func fewRanks() []int { return []int{2, 4, 8} }

const manyRanks = 64

// settle is the uncounted time before a new world size and after a pause. A hypervisor
// may move the cores of a virtual machine when their load changes, which slows all
// contenders for some seconds.
const settle = 4 * time.Second

// oneHost returns the suite of ranks on this host. Each size is its own step, because
// the speed of the machine may change within seconds and must affect all contenders.
// Steps of a second or less have more turns, in the short form on 2 ranks, whose times
// vary most. PyTorch, whose ranks take seconds to start, has one step for all sizes,
// together with the ring that it is compared with.
func oneHost(program string, short bool) suite {
	s := suite{title: "one host", bars: oneHostBars()}
	sizes := []int{8, kib, 8 * kib, 128 * kib, 2 * mib, 8 * mib, 32 * mib, 128 * mib}
	const turns = 3
	w := Work{Budget: 300 * time.Millisecond, Batch: 16 * mib}
	if short {
		sizes, w.Budget = []int{8, 8 * kib, 128 * kib, 8 * mib}, 60*time.Millisecond
	}
	tcp := ringtrain(ringtrainFlat, program, "--levels=flat", "--link=tcp")
	for _, w.Ranks = range fewRanks() {
		all := slices.Concat([]Contender{ringtrain(ours, program), tcp, ringtrain(ringtrainTLS, program), glooContender()},
			mpiContenders(mpiMemory, memorySettings(), cores.Own(), w.Ranks), mpiContenders(mpiTCP, tcpSettings(), cores.Own(), w.Ranks))
		if w.Ranks == 2 {
			all = append(all, copying(program))
		}
		first := len(s.steps)
		for _, n := range sizes {
			w.Sizes = []int{n}
			st := step{work: w, contenders: all}
			if n <= 8*mib && (!short || w.Ranks == 2) {
				st.turns = turns
				st.work.Budget /= turns
			}
			s.steps = append(s.steps, st)
		}
		s.steps[first].settle = settle
		s.steps[first].settling = Work{Ranks: w.Ranks, Sizes: []int{8 * mib}, Budget: settle / 8, Batch: w.Batch}
		w.Sizes = sizes
		s.steps = append(s.steps, step{work: w, contenders: []Contender{tcp, pytorchContender()}})
	}
	if !short {
		many := Work{Ranks: manyRanks, Sizes: []int{mib}, Budget: w.Budget, Batch: 2 * mib}
		s.steps = append(s.steps, step{work: many, contenders: []Contender{ringtrain(ours, program), glooContender()}})
		s.bars = append(s.bars, manyRanksBars()...)
	}
	return s
}

// overHosts returns the suite of ranks on hosts with links of a given rate. Batches are
// large: sums run for some seconds back to back, so that the bursts of the shapers do
// not count.
func overHosts(program, rate string, topology Topology, short bool) suite {
	s := suite{title: "hosts, links of " + rate, topology: topology}
	w := Work{
		Ranks: len(topology.Hosts) * topology.PerHost, Sizes: []int{8, 2 * kib, 128 * kib, 2 * mib, 8 * mib, 32 * mib},
		Budget: 2 * time.Second, Batch: 256 * mib,
	}
	if short {
		w.Sizes, w.Budget = []int{8, 8 * mib}, time.Second
	}
	all := []Contender{ringtrain(ours, program, "--codec=none")}
	if topology.PerHost == 1 {
		all = append(all, ringtrain(ringtrainAuth, program, "--codec=none", "--security=auth"),
			ringtrain(ringtrainBF16, program, "--codec=bf16"), ringtrain(ringtrainInt8, program, "--codec=int8"), wire(program))
		s.bars = hostsBars(rate)
	} else {
		all = append(all, ringtrain(ringtrainFlat, program, "--codec=none", "--levels=flat"))
		s.bars = levelsBars(len(topology.Hosts), topology.PerHost)
	}
	all = append(all, glooContender())
	all = append(all, mpiContenders(mpiTCP, hostSettings(), cores.Own(), w.Ranks)...)
	s.steps = []step{{work: w, contenders: all}}
	return s
}
