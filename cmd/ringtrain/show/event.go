package show

import (
	"encoding/json"

	"ringtrain/docs"
	"ringtrain/input/remote"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous"
)

// named is a value of another room as an event.
type named struct {
	kind  string
	value any
}

// Kind names the event.
func (n named) Kind() string { return n.kind }

// MarshalJSON writes the value.
func (n named) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

func waitingEvent(w rendezvous.Waiting) report.Event {
	e := report.Waiting{Present: w.Present, WorldSize: w.WorldSize, Missing: []report.Missing{}, Remaining: report.Seconds(w.Remaining)}
	for _, m := range w.Missing {
		e.Missing = append(e.Missing, report.Missing{Rank: m.Rank, Address: m.Address, Reason: m.Reason, For: report.Seconds(m.For)})
	}
	return e
}

// causeOf is the inverse of [Failure]. The host is that of a rank.
func causeOf(f report.Failure) *ring.Cause {
	c := &ring.Cause{Rank: f.Rank, Host: f.Host, Step: f.Step, Operation: f.Operation, Peer: f.Peer, Text: f.Cause, ExitCode: f.ExitCode}
	if f.Rank < 0 {
		c.Host = ""
	}
	return c
}

// Failure returns the event of a job's end.
func Failure(c *ring.Cause) report.Failure {
	return report.Failure{
		Rank: c.Rank, Host: c.Host, Step: c.Step, Operation: c.Operation, Peer: c.Peer,
		Cause: printed(remote.Public(c.Text), phrase.MaxText), ExitCode: c.ExitCode, Doc: Entry(c.Text, c.ExitCode),
	}
}

// Entry returns the entry of the manual that explains a cause, as `ringtrain help` takes it; "" for none.
func Entry(cause string, code int) string {
	anchor := docs.Explain(cause, code)
	if anchor == "" {
		return ""
	}
	return "docs/when-it-breaks#" + anchor
}
