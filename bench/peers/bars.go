package peers

import (
	"math"
	"slices"

	"ringtrain/bench"
)

// A bar says by how much ringtrain is to be ahead. A ratio is theirs by ours,
// so that above 1 ours is better; where there are several of them it is the best
// one's.
type bar struct {
	text     string
	ours     string
	theirs   []string
	from, to int     // bytes, both inclusive
	ranks    []int   // that it is for; nil: all
	between  bool    // of bytes between hosts, not of times
	mean     float64 // that the geometric mean of the ratios is to be; 0: any
	least    float64 // that the worst ratio is to be; 0: any
}

// A Verdict is how a bar was met. Its JSON form is a line of bench peers --json.
type Verdict struct {
	Text  string  `json:"bar"`
	Cells int     `json:"cells"` // that were compared; 0: none, and the rest means nothing
	Mean  float64 `json:"mean"`  // geometric
	Least float64 `json:"least"`
	Ranks int     `json:"least_ranks"` // where the least is
	Bytes int     `json:"least_bytes"`

	WantMean  float64 `json:"want_mean"` // 0: no bar
	WantLeast float64 `json:"want_least"`
	Met       bool    `json:"met"`

	Missing []Spot         `json:"missing,omitempty"` // where ringtrain has no figure, or failed: the bar is not met
	Without map[string]int `json:"without,omitempty"` // who of theirs is missing in how many of ours
}

// A Spot is a place in the table.
type Spot struct {
	Ranks int `json:"ranks"`
	Bytes int `json:"bytes"`
}

// Kind names the event.
func (Verdict) Kind() string { return "bar" }

// judge holds the figures against the bar.
func (b bar) judge(f *figures) Verdict {
	v := Verdict{Text: b.text, WantMean: b.mean, WantLeast: b.least, Least: math.Inf(1), Without: map[string]int{}}
	logs := 0.0
	for _, ranks := range f.ranks() {
		for _, bytes := range f.sizes() {
			if !b.holds(ranks) || bytes < b.from || bytes > b.to {
				continue
			}
			ratio, ok := b.cell(f, Spot{ranks, bytes}, &v)
			if !ok {
				continue
			}
			v.Cells++
			logs += math.Log(ratio)
			if ratio < v.Least {
				v.Least, v.Ranks, v.Bytes = ratio, ranks, bytes
			}
		}
	}
	if v.Cells == 0 {
		v.Least = 0
		return v
	}
	v.Mean = math.Exp(logs / float64(v.Cells))
	v.Met = v.Mean >= v.WantMean && v.Least >= v.WantLeast && len(v.Missing) == 0
	return v
}

func (b bar) holds(ranks int) bool {
	return b.ranks == nil || slices.Contains(b.ranks, ranks)
}

// cell returns the best of theirs by ours at one spot, and tells v who is
// missing there.
func (b bar) cell(f *figures, at Spot, v *Verdict) (ratio float64, ok bool) {
	of := f.time
	if b.between {
		of = f.bytesBetween
	}
	mine, known := of(b.ours, at.Ranks, at.Bytes)
	failed := f.failed[cell{b.ours, at.Ranks, at.Bytes}]
	best := math.Inf(1)
	for _, who := range b.theirs {
		theirs, ok := of(who, at.Ranks, at.Bytes)
		switch {
		case ok:
			best = min(best, theirs)
		case f.failed[cell{who, at.Ranks, at.Bytes}]:
			failed = true
		case known:
			v.Without[who]++
		}
	}
	measured := !math.IsInf(best, 1)
	if failed || measured && !known {
		v.Missing = append(v.Missing, at)
		return 0, false
	}
	return best / mine, known && measured
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// oneHostBars are the bars of few ranks on one host.
func oneHostBars() []bar {
	all := 1 << 30
	bars := []bar{
		{text: "one host, 128 KiB and more: against openmpi shm", ours: ours, theirs: []string{mpiMemory}, from: 128 * kib, to: all, mean: 2.2, least: 1.5},
		{text: "one host, 128 KiB to 8 MiB: against gloo", ours: ours, theirs: []string{gloo}, from: 128 * kib, to: 8 * mib, least: 5},
		{text: "one host, 128 MiB: against gloo", ours: ours, theirs: []string{gloo}, from: 128 * mib, to: 128 * mib, least: 3.5},
		{text: "one host, 8 MiB, 2 ranks: of the limit, a copy", ours: ours, theirs: []string{copyLimit}, from: 8 * mib, to: 8 * mib, ranks: []int{2}, least: 0.6},
		{text: "one host, 8 B to 8 KiB: against openmpi shm", ours: ours, theirs: []string{mpiMemory}, to: 8 * kib, mean: 1, least: 1 / 1.3},
		{text: "one host, 8 B to 8 KiB: against gloo", ours: ours, theirs: []string{gloo}, to: 8 * kib, least: 20},
		{text: "TCP on loopback: against the better of gloo, openmpi tcp", ours: oursFlat, theirs: []string{gloo, mpiTCP}, to: all, mean: 1.5, least: 0.95},
		{text: "TCP on loopback: against pytorch", ours: oursFlat, theirs: []string{pytorch}, to: all, mean: 1.5, least: 0.95},
	}
	for i := range bars {
		if bars[i].ranks == nil {
			bars[i].ranks = fewRanks()
		}
	}
	return bars
}

// manyRanksBars are those of many ranks on one host.
func manyRanksBars() []bar {
	return []bar{{text: "one host, 64 ranks, 1 MiB: against gloo", ours: ours, theirs: []string{gloo}, to: 1 << 30, ranks: []int{manyRanks}, least: 1}}
}

// hostsBars are the bars of one rank on each of several hosts.
func hostsBars(rate string) []bar {
	all := 1 << 30
	bars := []bar{
		{text: "hosts, 2 MiB and more, none: of the wire", ours: ours, theirs: []string{wireLimit}, from: 2 * mib, to: all, least: 0.97},
		{text: "hosts, 8 MiB and more, int8: against none", ours: oursInt8, theirs: []string{ours}, from: 8 * mib, to: all, least: 3.7},
		{text: "hosts, 8 MiB and more, bf16: against none", ours: oursBF16, theirs: []string{ours}, from: 8 * mib, to: all, least: 1.9},
	}
	if rate == "1gbit" {
		bars = append(bars, bar{text: "hosts, 8 B: against openmpi tcp", ours: ours, theirs: []string{mpiTCP}, to: 8, least: 1 / 0.8})
	}
	return bars
}

// levelsBars are the bars of several ranks on each of several hosts. A flat ring
// of p ranks has a link out of each host, over which 2(p-1)/p of the buffer go;
// on two levels each of h hosts sends 2(h-1)/h of it.
func levelsBars(hosts, perHost int) []bar {
	all := 1 << 30
	flat := float64(hosts) * bench.BusBW(1, hosts*perHost)
	two := float64(hosts) * bench.BusBW(1, hosts)
	const headers = 0.99
	return []bar{
		{text: "two levels, 8 MiB and more: bytes between hosts against flat", ours: ours, theirs: []string{oursFlat},
			from: 8 * mib, to: all, between: true, least: headers * flat / two},
		{text: "two levels, 8 MiB and more: against flat", ours: ours, theirs: []string{oursFlat}, from: 8 * mib, to: all, least: 1.4},
	}
}
