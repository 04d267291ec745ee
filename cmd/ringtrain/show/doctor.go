package show

import (
	"fmt"
	"io"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/doctor"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// verdict is the event of the result of an examination.
type verdict struct {
	Well bool `json:"well"`
	doctor.Verdict
	Took report.Seconds `json:"took_s"`
}

// Kind names the event.
func (verdict) Kind() string { return "verdict" }

// Examined reports the findings.
func (r *Reporter) Examined(found *doctor.Report, v doctor.Verdict, took time.Duration) {
	if !r.JSON {
		io.WriteString(r.Stdout, found.Table(v))
		return
	}
	for _, h := range found.Hosts {
		r.Emit(named{"host", h})
	}
	for _, p := range found.Pairs() {
		r.Emit(named{"pair", p})
	}
	r.Emit(verdict{v.Well(), v, report.Seconds(took)})
	if !v.Well() {
		r.Emit(Failure(v.Cause()))
	}
	if best := found.BestOrder(); best != "" {
		fmt.Fprintln(r.People, best)
	}
	io.WriteString(r.People, v.Text(len(found.Hosts)))
}

// ExaminationFailed reports an error as a verdict, and returns the error.
func (r *Reporter) ExaminationFailed(err error) error {
	switch {
	case err == nil || !r.JSON:
		return err
	case r.Rank > 0:
		return r.Reported(err)
	}
	cause := ring.CauseOf(err, -1, "", -1)
	code := max(exitcode.Of(err), exitcode.Failed)
	r.Emit(verdict{Verdict: doctor.Verdict{Code: code, Findings: []doctor.Finding{{Code: code, Text: cause.Error(), Rank: cause.Rank, Peer: -1}}}})
	return err
}

// Verdict is Read for an examination: its end is told once rank 0 has printed a verdict or an error. The
// lines stay as they are.
func (r *Reporter) Verdict(line []byte) launch.Text {
	s, err := report.Parse(line)
	r.told = r.told || err != nil || s.Kind() == verdict{}.Kind() || s.Kind() == report.Failure{}.Kind()
	return launch.Text{Out: line, File: line}
}
