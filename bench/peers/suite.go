package peers

import (
	"slices"
	"time"

	"ringtrain/ring/cores"
)

// A step is one work and who does it in each round, and how many times. Before, the first
// contender does other work that is not counted, over and over for as long as settle says.
type step struct {
	work       Work
	contenders []Contender
	turns      int // of each contender; 0: 1
	settle     time.Duration
	settling   Work
}

// A suite is what Compare runs and which bars it is held against.
type suite struct {
	title string
	place Place
	steps []step
	bars  []bar
	base  string // whose times the others' are given in; "": ringtrain's
}

// The parts of the tables, of which one may be wanted alone.
const (
	PartOneHost = "one-host" // through shared memory, and the copy that is its limit
	PartFlat    = "flat"     // over TCP on loopback
	PartHosts   = "hosts"    // on several hosts
)

// part returns what of s, ranks on one host, is PartOneHost or PartFlat; all of
// it for anything else. gloo, which has no shared memory, is in both.
func (s suite) part(name string) suite {
	var who []string
	switch name {
	case PartOneHost:
		s.base, who = ours, []string{ours, gloo, mpiMemory, copyLimit}
	case PartFlat:
		s.base, who = oursFlat, []string{oursFlat, gloo, pytorch, mpiTCP}
	default:
		return s
	}
	p := suite{title: s.title + ", " + name, place: s.place, base: s.base}
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

// Numbers of ranks on one host: as many as it has cores, mostly, or more; and
// what nobody would want, but must work.
func fewRanks() []int { return []int{2, 4, 8} }

const manyRanks = 64

// settle is how long ranks run before those of another number are timed, and after a pause. A
// virtual machine may have its cores moved when their load changes: for some seconds after 8
// ranks had run on 2 cores, sums of 2 ranks over TCP took 1.5 to 3 times as long, whoever's.
const settle = 4 * time.Second

// oneHost has ranks on this host. Each size is a step of its own: what the machine is like
// may change within seconds, and those who are compared are to meet the same. What takes a
// second or less is done more often, in the short form on 2 ranks, whose times differ most.
// PyTorch, whose ranks take seconds to start, has one step for all sizes, beside the ring
// that it is held against.
func oneHost(program string, short bool) suite {
	s := suite{title: "one host", bars: oneHostBars()}
	sizes := []int{8, kib, 8 * kib, 128 * kib, 2 * mib, 8 * mib, 32 * mib, 128 * mib}
	const turns = 3
	w := Work{Budget: 300 * time.Millisecond, Batch: 16 * mib}
	if short {
		sizes, w.Budget = []int{8, 8 * kib, 128 * kib, 8 * mib}, 60*time.Millisecond
	}
	tcp := ringtrain(oursFlat, program, "--levels=flat", "--link=tcp")
	for _, w.Ranks = range fewRanks() {
		all := append([]Contender{ringtrain(ours, program), tcp, glooContender()}, mpiOnHost(w.Ranks)...)
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

// mpiOnHost is Open MPI through shared memory, and over TCP.
func mpiOnHost(ranks int) []Contender {
	own := cores.Own()
	return append(mpiContenders(mpiMemory, memorySettings(), own, ranks), mpiContenders(mpiTCP, tcpSettings(), own, ranks)...)
}

// overHosts has ranks on hosts with wires of a rate. Batches are large: sums go
// on back to back for some seconds, so that the shapers' bursts do not count.
func overHosts(program, rate string, place Place, short bool) suite {
	s := suite{title: "hosts, links of " + rate, place: place}
	w := Work{
		Ranks: len(place.Hosts) * place.PerHost, Sizes: []int{8, 2 * kib, 128 * kib, 2 * mib, 8 * mib, 32 * mib},
		Budget: 2 * time.Second, Batch: 256 * mib,
	}
	if short {
		w.Sizes, w.Budget = []int{8, 8 * mib}, time.Second
	}
	all := []Contender{ringtrain(ours, program, "--codec=none")}
	if place.PerHost == 1 {
		all = append(all, ringtrain(oursBF16, program, "--codec=bf16"), ringtrain(oursInt8, program, "--codec=int8"), wire(program))
		s.bars = hostsBars(rate)
	} else {
		all = append(all, ringtrain(oursFlat, program, "--codec=none", "--levels=flat"))
		s.bars = levelsBars(len(place.Hosts), place.PerHost)
	}
	all = append(all, glooContender())
	all = append(all, mpiContenders(mpiTCP, hostSettings(), cores.Own(), w.Ranks)...)
	s.steps = []step{{work: w, contenders: all}}
	return s
}
