package peers

import (
	"runtime"
	"time"
)

// A step is one work and who does it in each round.
type step struct {
	work       Work
	contenders []Contender
}

// A suite is what Compare runs and which bars it is held against.
type suite struct {
	title string
	place Place
	steps []step
	bars  []bar
}

// oneHost has ranks on this host: as many as it has cores, mostly, or more.
func oneHost(program string, short bool) suite {
	s := suite{title: "one host", bars: oneHostBars()}
	w := Work{Sizes: []int{8, kib, 8 * kib, 128 * kib, 2 * mib, 8 * mib, 32 * mib, 128 * mib}, Budget: 300 * time.Millisecond, Batch: 16 * mib}
	if short {
		w.Sizes, w.Budget = []int{8, 8 * kib, 128 * kib, 8 * mib}, 60*time.Millisecond
	}
	cores := runtime.NumCPU()
	for _, w.Ranks = range []int{2, 4, 8} {
		all := []Contender{ringtrain(ours, program), ringtrain(oursFlat, program, "--levels=flat", "--link=tcp"), glooContender(), pytorchContender()}
		all = append(all, mpiContenders(mpiMemory, memorySettings(), cores, w.Ranks)...)
		all = append(all, mpiContenders(mpiTCP, tcpSettings(), cores, w.Ranks)...)
		if w.Ranks == 2 {
			all = append(all, copying(program))
		}
		s.steps = append(s.steps, step{w, all})
	}
	if !short {
		many := Work{Ranks: 64, Sizes: []int{mib}, Budget: w.Budget, Batch: 2 * mib}
		s.steps = append(s.steps, step{many, []Contender{ringtrain(ours, program), glooContender()}})
		s.bars = append(s.bars, manyRanksBars()...)
	}
	return s
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
	all = append(all, mpiContenders(mpiTCP, hostSettings(), runtime.NumCPU(), w.Ranks)...)
	s.steps = []step{{w, all}}
	return s
}
