package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/order"
)

// Verdict is the judgement of a report.
type Verdict struct {
	Code     int       `json:"exit_code"` // of the worst fault; 0 if there is none
	Findings []Finding `json:"findings"`  // the worst first
}

// Finding is one fault or warning.
type Finding struct {
	Code int    `json:"exit_code"` // of a job that fails by it; 0: a warning, the job would be slow or at risk
	Text string `json:"text"`      // one line
	Rank int    `json:"rank"`
	Peer int    `json:"peer"` // the other rank of a pair; -1 for a finding about a host
}

// Well reports whether a job can run.
func (v Verdict) Well() bool { return v.Code == exitcode.OK }

// Cause returns the worst finding as the cause with which a job ends. There is one.
func (v Verdict) Cause() *ring.Cause {
	f := v.Findings[0]
	return &ring.Cause{Rank: -1, Step: -1, Text: f.Text, ExitCode: f.Code}
}

// Verdict judges the report. It depends on the report alone. Faults between workers come first, then
// faults of a host, then warnings.
func (r *Report) Verdict() Verdict {
	v := Verdict{Findings: slices.Concat([]Finding{}, r.reachability(), r.shortages(), r.slow())}
	slices.SortStableFunc(v.Findings, func(a, b Finding) int { return cmp.Compare(a.weight(), b.weight()) })
	if len(v.Findings) > 0 {
		v.Code = v.Findings[0].Code
	}
	return v
}

// weight sorts faults before warnings.
func (f Finding) weight() int {
	if f.Code == exitcode.OK {
		return 1
	}
	return 0
}

// name returns the name of a rank in messages.
func (r *Report) name(rank int) string { return fmt.Sprintf("rank %d on %s", rank, r.Hosts[rank].Host) }

// reachability finds the ranks that are silent, and those that others cannot reach. Failures to reach one
// rank for one reason are one finding.
func (r *Report) reachability() []Finding {
	var found []Finding
	for rank, h := range r.Hosts {
		if h.Fault != "" {
			found = append(found, Finding{exitcode.Retry, r.name(rank) + ": " + h.Fault, rank, -1})
		}
	}
	type failure struct {
		to    int
		fault string
	}
	failed := map[failure][]Pair{}
	for _, p := range r.Pairs() {
		if f := (failure{p.To, p.Fault}); p.Fault != "" && r.Hosts[p.From].Fault == "" {
			failed[f] = append(failed[f], p)
		}
	}
	for _, p := range r.Pairs() {
		all := failed[failure{p.To, p.Fault}]
		if len(all) == 0 || all[0] != p {
			continue
		}
		var from []string
		for _, one := range all {
			from = append(from, r.name(one.From))
		}
		found = append(found, Finding{p.Code, fmt.Sprintf("link %s -> %s at %s: %s", strings.Join(from, ", "), r.name(p.To), p.Address, p.Fault), p.From, p.To})
	}
	return found
}

// The needs of a worker, with a margin.
const (
	spareFiles  = 64 // open files besides connections
	spareTasks  = 24 // threads besides cores: Go's own, and those in system calls
	littleSpace = 1 << 30
	littleRAM   = 256 << 20
	wrongClock  = 1.0 // seconds from rank 0's clock: times in logs and events can no longer be compared
)

// shortages finds what hosts lack, and in what they differ: resources, kernel sets, tokens, clocks.
func (r *Report) shortages() []Finding {
	var found []Finding
	for rank, h := range r.Hosts {
		if h.Fault != "" {
			continue
		}
		add := func(code int, format string, args ...any) {
			found = append(found, Finding{code, r.name(rank) + ": " + fmt.Sprintf(format, args...), rank, -1})
		}
		// A worker has at most two open files for the links to each other worker, and on rank 0
		// one more for each, for the rendezvous.
		if need := int64(3*len(r.Hosts) + spareFiles); h.OpenFiles > 0 && h.OpenFiles < need {
			add(exitcode.Failed, "limit of open files is %d, want %d or more (ulimit -n)", h.OpenFiles, need)
		}
		if need := int64(h.Cores + spareTasks); h.Tasks > 0 && h.Tasks < need {
			add(exitcode.Failed, "limit of threads and processes is %d, want %d or more (ulimit -u, pids.max)", h.Tasks, need)
		}
		for _, d := range h.Disks {
			switch {
			case d.Fault != "":
				add(exitcode.CannotCreate, "%s %s: %s", d.Key, d.Path, d.Fault)
			case d.Free == 0:
				add(exitcode.IO, "%s %s: no space left", d.Key, d.Path)
			case d.Free < littleSpace:
				add(exitcode.OK, "%s %s: only %s of space left", d.Key, d.Path, bytesText(d.Free))
			}
		}
		if h.MemoryFree > 0 && h.MemoryFree < littleRAM {
			add(exitcode.OK, "only %s of memory left", bytesText(h.MemoryFree))
		}
		if first := r.Hosts[0]; first.Fault == "" && h.Kernels != first.Kernels {
			add(exitcode.OK, "its kernels are %s at most, those of rank 0 %s: all ranks would compute with the lower set", h.Kernels, first.Kernels)
		}
		switch first := r.Hosts[0]; {
		case h.TokenFault != "":
			add(exitcode.OK, "its token is of no use without ringtrain run: %s", h.TokenFault)
		case first.Fault == "" && first.TokenFault == "" && h.TokenID != first.TokenID:
			add(exitcode.OK, "its token is %s, that of rank 0 %s: without ringtrain run they would refuse each other", h.TokenID, first.TokenID)
		}
		switch ahead := r.pair(0, rank).Ahead; {
		case ahead >= wrongClock:
			add(exitcode.OK, "clock is %s ahead of rank 0's", secondsText(ahead))
		case ahead <= -wrongClock:
			add(exitcode.OK, "clock is %s behind rank 0's", secondsText(-ahead))
		}
	}
	return found
}

// slowTimes is the factor by which a bandwidth must be worse than the others to be reported. Networks
// are seldom even.
const slowTimes = 3

// slow finds the ranks, and then the pairs of other ranks, that are far slower than the rest. A rank has
// the best value that it has with any other rank, so that a slow rank does not make its partners look
// slow. A single host is skipped: its network is memory, and other work uses the cores.
func (r *Report) slow() []Finding {
	if len(r.hosts()) == 1 {
		return nil
	}
	size := len(r.Hosts)
	sends, receives, all := make([]float64, size), make([]float64, size), []float64{}
	for _, p := range r.pairs {
		sends[p.From], receives[p.To] = max(sends[p.From], p.Bandwidth), max(receives[p.To], p.Bandwidth)
		all = append(all, p.Bandwidth)
	}
	var found []Finding
	tell := func(rate, usual float64, rank, peer int, what string) {
		found = append(found, Finding{exitcode.OK, fmt.Sprintf("%s %s where others have %s", what, rateText(rate), rateText(usual)), rank, peer})
	}
	sending, receiving, usual := median(sends), median(receives), median(all)
	for rank := range size {
		if isSlow(sends[rank], sending) {
			tell(sends[rank], sending, rank, -1, r.name(rank)+": sends at")
		}
		if isSlow(receives[rank], receiving) {
			tell(receives[rank], receiving, rank, -1, r.name(rank)+": receives at")
		}
	}
	for _, p := range r.pairs {
		if isSlow(p.Bandwidth, usual) && !isSlow(sends[p.From], sending) && !isSlow(receives[p.To], receiving) {
			tell(p.Bandwidth, usual, p.From, p.To, fmt.Sprintf("link %s -> %s:", r.name(p.From), r.name(p.To)))
		}
	}
	return found
}

// isSlow reports whether a bandwidth that was measured is far below the usual one.
func isSlow(rate, usual float64) bool { return rate > 0 && rate*slowTimes < usual }

// median returns the upper median of the positive values.
func median(list []float64) float64 {
	known := slices.DeleteFunc(slices.Sorted(slices.Values(list)), func(q float64) bool { return q <= 0 })
	if len(known) == 0 {
		return 0
	}
	return known[len(known)/2]
}

// minHosts is the number of hosts from which on orders differ. Three hosts have one ring in two
// directions, and bandwidth may differ by direction.
const minHosts = 3

// BestOrder returns a line with the order of the ring whose slowest hop between hosts is fastest, in the
// form of allreduce.order. It returns "" if there is one order only, or if a pair was not measured.
func (r *Report) BestOrder() string {
	hosts := r.hosts()
	if len(hosts) < minHosts {
		return ""
	}
	bandwidth := make([][]float64, len(hosts))
	for i, from := range hosts {
		for j, to := range hosts {
			rate := r.pair(from[0], to[0]).Bandwidth
			if i != j && rate <= 0 {
				return ""
			}
			bandwidth[i] = append(bandwidth[i], rate)
		}
	}
	ranks, why := order.Fastest(hosts, bandwidth)
	return fmt.Sprintf("best order of the ring of these ranks: --set allreduce.order=%s (%s)", order.Format(ranks), why)
}
