package doctor

import (
	"cmp"
	"slices"

	"ringtrain/ring/exitcode"
)

// Verdict is the judgement of a report.
type Verdict struct {
	Code     int       `json:"exit_code"` // of the worst fault; 0 if there is none
	Findings []Finding `json:"findings"`  // the worst first
}

// Well reports whether a job can run.
func (v Verdict) Well() bool { return v.Code == exitcode.OK }

// Worst returns the text of the first finding, or "" if there is none.
func (v Verdict) Worst() string {
	if len(v.Findings) == 0 {
		return ""
	}
	return v.Findings[0].Text
}

// Finding is one fault or warning.
type Finding struct {
	Code int    `json:"exit_code"` // of a job that fails by it; 0: a warning, the job would be slow or at risk
	Text string `json:"text"`      // one line
	Rank int    `json:"rank"`
	Peer int    `json:"peer"` // the other rank of a pair; -1 for a finding about a host
}

// weight sorts findings: faults between workers, then faults of a worker, then
// warnings.
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

// Verdict judges the report. It depends on the report alone.
func (r *Report) Verdict() Verdict {
	v := Verdict{Findings: slices.Concat(r.reachability(), r.shortages(), r.kernelMismatches(), r.clocks(), r.slow())}
	if v.Findings == nil {
		v.Findings = []Finding{}
	}
	slices.SortStableFunc(v.Findings, func(a, b Finding) int { return cmp.Compare(a.weight(), b.weight()) })
	if len(v.Findings) > 0 {
		v.Code = v.Findings[0].Code
	}
	return v
}
