package peers

import (
	"math"
	"slices"

	"ringtrain/bench"
)

// A bar is a required speed of ringtrain relative to other contenders. A ratio is their
// time divided by ringtrain's, so ringtrain is faster if the ratio is above 1. Of
// several contenders the best one counts.
type bar struct {
	text     string
	ours     string
	theirs   []string
	from, to int     // sizes in bytes, both inclusive
	ranks    []int   // applicable world sizes; nil: all
	between  bool    // compares bytes between hosts, not times
	mean     float64 // least geometric mean of the ratios; 0: any
	least    float64 // least ratio of any cell; 0: any
}

// A Verdict is the result of a bar. Its JSON form is a line of bench peers --json.
type Verdict struct {
	Text  string  `json:"bar"`
	Cells int     `json:"cells"` // compared cells; with 0 the ratios are meaningless
	Mean  float64 `json:"mean"`  // geometric
	Least float64 `json:"least"`
	Ranks int     `json:"least_ranks"` // world size of the least ratio
	Bytes int     `json:"least_bytes"`

	WantMean  float64 `json:"want_mean"` // 0: no bar
	WantLeast float64 `json:"want_least"`
	Met       bool    `json:"met"`

	Missing []Point        `json:"missing,omitempty"` // cells without a time of ringtrain: the bar is not met
	Without map[string]int `json:"without,omitempty"` // by missing contender, the number of cells
}

// A Point is a row of the table.
type Point struct {
	Ranks int `json:"ranks"`
	Bytes int `json:"bytes"`
}

// Kind names the event.
func (Verdict) Kind() string { return "bar" }

// evaluate compares the figures with the bar.
func (b bar) evaluate(f *figures) Verdict {
	v := Verdict{Text: b.text, WantMean: b.mean, WantLeast: b.least, Least: math.Inf(1), Without: map[string]int{}}
	logs := 0.0
	for _, ranks := range f.ranks() {
		for _, bytes := range f.sizes() {
			if !b.appliesTo(ranks) || bytes < b.from || bytes > b.to {
				continue
			}
			ratio, ok := b.cell(f, Point{ranks, bytes}, &v)
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

func (b bar) appliesTo(ranks int) bool {
	return b.ranks == nil || slices.Contains(b.ranks, ranks)
}

// cell returns the ratio of the best contender at one point, and adds missing contenders
// to v.
func (b bar) cell(f *figures, at Point, v *Verdict) (ratio float64, ok bool) {
	of := f.time
	if b.between {
		of = f.bytesBetween
	}
	mine, known := of(b.ours, at.Ranks, at.Bytes)
	failed := f.cells[cell{b.ours, at.Ranks, at.Bytes}].failed
	best := math.Inf(1)
	for _, who := range b.theirs {
		theirs, ok := of(who, at.Ranks, at.Bytes)
		switch {
		case ok:
			best = min(best, theirs)
		case f.cells[cell{who, at.Ranks, at.Bytes}].failed:
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

// oneHostBars returns the bars of few ranks on one host.
func oneHostBars() []bar {
	all := 1 << 30
	bars := []bar{
		{text: "one host, 128 KiB and more: against openmpi shm", ours: ours, theirs: []string{mpiMemory}, from: 128 * kib, to: all, mean: 2.2, least: 1.5},
		{text: "one host, 128 KiB to 8 MiB: against gloo", ours: ours, theirs: []string{gloo}, from: 128 * kib, to: 8 * mib, least: 5},
		{text: "one host, 128 MiB: against gloo", ours: ours, theirs: []string{gloo}, from: 128 * mib, to: 128 * mib, least: 3.5},
		{text: "one host, 8 MiB, 2 ranks: of the limit, a copy", ours: ours, theirs: []string{copyLimit}, from: 8 * mib, to: 8 * mib, ranks: []int{2}, least: 0.6},
		{text: "one host, 8 B to 8 KiB: against openmpi shm", ours: ours, theirs: []string{mpiMemory}, to: 8 * kib, mean: 1, least: 1 / 1.3},
		{text: "one host, 8 B to 8 KiB: against gloo", ours: ours, theirs: []string{gloo}, to: 8 * kib, least: 20},
		{text: "TCP on loopback: against the better of gloo, openmpi tcp", ours: ringtrainFlat, theirs: []string{gloo, mpiTCP}, to: all, mean: 1.5, least: 0.95},
		{text: "TCP on loopback: against pytorch", ours: ringtrainFlat, theirs: []string{pytorch}, to: all, mean: 1.5, least: 0.95},
	}
	for i := range bars {
		if bars[i].ranks == nil {
			bars[i].ranks = fewRanks()
		}
	}
	return bars
}

// manyRanksBars returns the bars of many ranks on one host.
func manyRanksBars() []bar {
	return []bar{{text: "one host, 64 ranks, 1 MiB: against gloo", ours: ours, theirs: []string{gloo}, to: 1 << 30, ranks: []int{manyRanks}, least: 1}}
}

// hostsBars returns the bars of one rank on each of several hosts.
func hostsBars(rate string) []bar {
	all := 1 << 30
	bars := []bar{
		{text: "hosts, 2 MiB and more, none: of the wire", ours: ours, theirs: []string{wireLimit}, from: 2 * mib, to: all, least: 0.95},
		{text: "hosts, 2 MiB and more, none, auth: of the wire", ours: ringtrainAuth, theirs: []string{wireLimit}, from: 2 * mib, to: all, least: 0.97},
		{text: "hosts, 8 B: against auth", ours: ours, theirs: []string{ringtrainAuth}, to: 8, least: 1 / 1.15},
		{text: "hosts, 8 MiB and more, int8: against none", ours: ringtrainInt8, theirs: []string{ours}, from: 8 * mib, to: all, least: 3.7},
		{text: "hosts, 8 MiB and more, bf16: against none", ours: ringtrainBF16, theirs: []string{ours}, from: 8 * mib, to: all, least: 1.9},
	}
	if rate == "1gbit" {
		bars = append(bars, bar{text: "hosts, 8 B: against openmpi tcp", ours: ours, theirs: []string{mpiTCP}, to: 8, least: 1 / 0.8})
	}
	return bars
}

// levelsBars returns the bars of several ranks on each of several hosts. A flat ring of
// p ranks sends 2(p-1)/p of the buffer over the link out of each host; on two levels
// each of h hosts sends 2(h-1)/h.
func levelsBars(hosts, perHost int) []bar {
	all := 1 << 30
	flat := float64(hosts) * bench.BusBW(1, hosts*perHost)
	two := float64(hosts) * bench.BusBW(1, hosts)
	const headers = 0.99
	return []bar{
		{text: "two levels, 8 MiB and more: bytes between hosts against flat", ours: ours, theirs: []string{ringtrainFlat},
			from: 8 * mib, to: all, between: true, least: headers * flat / two},
		{text: "two levels, 8 MiB and more: against flat", ours: ours, theirs: []string{ringtrainFlat}, from: 8 * mib, to: all, least: 1.4},
	}
}
