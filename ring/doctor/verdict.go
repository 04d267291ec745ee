package doctor

import (
	"cmp"
	"slices"

	"ringtrain/ring/exitcode"
)

// Verdict is what a report means.
type Verdict struct {
	Code     int       `json:"exit_code"` // of the worst fault; 0 if there is none
	Findings []Finding `json:"findings"`  // the worst first
}

// Well tells whether nothing is in a job's way.
func (v Verdict) Well() bool { return v.Code == exitcode.OK }

// Worst returns the first finding; "" if there is none.
func (v Verdict) Worst() string {
	if len(v.Findings) == 0 {
		return ""
	}
	return v.Findings[0].Text
}

// Finding is one thing that is wrong.
type Finding struct {
	Code int    `json:"exit_code"` // of a job that fails by it; 0: a warning, it would only be slow or is in danger
	Text string `json:"text"`      // one line
	Rank int    `json:"rank"`
	Peer int    `json:"peer"` // the other end of a way; -1 for what concerns a host
}

// weight sorts findings: what keeps workers apart, then what keeps one from its
// work, then warnings.
func (f Finding) weight() int {
	switch f.Code {
	case exitcode.OK:
		return 3
	case exitcode.Retry, exitcode.Protocol, exitcode.Auth:
		if f.Peer < 0 {
			return 0
		}
		return 1
	}
	return 2
}

// Verdict judges the report. It is a function of the report alone.
func (r *Report) Verdict() Verdict {
	v := Verdict{Findings: slices.Concat(r.apart(), r.needs(), r.mixed(), r.clocks(), r.slow())}
	if v.Findings == nil {
		v.Findings = []Finding{}
	}
	slices.SortStableFunc(v.Findings, func(a, b Finding) int { return cmp.Compare(a.weight(), b.weight()) })
	if len(v.Findings) > 0 {
		v.Code = v.Findings[0].Code
	}
	return v
}
