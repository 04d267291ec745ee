package show

import (
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/phrase"
	"ringtrain/ring/rendezvous"
)

// waiting is the event of an incomplete start.
type waiting struct {
	Present   int            `json:"present"`
	WorldSize int            `json:"world_size"`
	Missing   []missing      `json:"missing"`
	Remaining report.Seconds `json:"remaining_s"`
}

type missing struct {
	Rank    int            `json:"rank"`
	Address string         `json:"address"`
	Reason  string         `json:"reason"`
	For     report.Seconds `json:"missing_s"`
}

// Kind names the event.
func (waiting) Kind() string { return "waiting" }

func waitingEvent(w rendezvous.Waiting) report.Event {
	e := waiting{Present: w.Present, WorldSize: w.WorldSize, Missing: []missing{}, Remaining: report.Seconds(w.Remaining)}
	for _, m := range w.Missing {
		e.Missing = append(e.Missing, missing{m.Rank, m.Address, m.Reason, report.Seconds(m.For)})
	}
	return e
}

// failure is the event of a job's end, with its first cause.
type failure struct {
	Rank      int    `json:"rank"`
	Host      string `json:"host"`
	Step      int64  `json:"step"`
	Operation string `json:"operation"`
	Peer      string `json:"peer"`
	Cause     string `json:"cause"`
	ExitCode  int    `json:"exit_code"`
}

// Kind names the event.
func (failure) Kind() string { return "error" }

// Failure returns the event of a job's end.
func Failure(c *ring.Cause) report.Event {
	return failure{c.Rank, c.Host, c.Step, c.Operation, c.Peer, printed(c.Text, phrase.MaxText), c.ExitCode}
}

// Line returns the JSON object of an event, with its name and time first, and a
// newline.
func Line(e report.Event, now time.Time) ([]byte, error) {
	head, err := marshal(struct {
		Event string `json:"event"`
		Time  string `json:"time"`
	}{e.Kind(), now.UTC().Format(time.RFC3339Nano)})
	if err != nil {
		return nil, err
	}
	body, err := marshal(e)
	if err != nil {
		return nil, err
	}
	head = head[:len(head)-1]
	if len(body) > 2 {
		head = append(head, ',')
	}
	return append(append(head, body[1:]...), '\n'), nil
}
