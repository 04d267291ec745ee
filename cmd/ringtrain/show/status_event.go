package show

import (
	"bytes"
	"time"

	"ringtrain/model/train"
	"ringtrain/model/train/report"
	"ringtrain/ring/rendezvous"
)

// jobStatus is the status event of a job.
type jobStatus struct {
	JobID        string         `json:"job_id"`
	Phase        string         `json:"phase"`
	Generation   uint64         `json:"generation"`
	WorldSize    int            `json:"world_size"`
	Present      int            `json:"present"`
	Step         int64          `json:"step"`
	StepsPerS    float64        `json:"steps_per_s"`
	RestartsLeft int            `json:"restarts_left"`
	Remaining    report.Seconds `json:"remaining_s"`
	Stall        string         `json:"stall"`
	Kernels      string         `json:"kernels"`
	Cause        string         `json:"cause"`
	Ranks        []rankStatus   `json:"ranks"`
	Strangers    []string       `json:"strangers"`
}

// rankStatus is one rank of it. Fields that a missing rank does not have are -1 or "".
type rankStatus struct {
	Rank      int            `json:"rank"`
	Present   bool           `json:"present"`
	Host      string         `json:"host"`
	Address   string         `json:"address"`
	PID       int            `json:"pid"`
	Reason    string         `json:"reason"`
	Missing   report.Seconds `json:"missing_s"`
	Step      int64          `json:"step"`
	Phase     string         `json:"phase"`
	Beat      report.Seconds `json:"beat_s"`
	Operation string         `json:"operation"`
	Sequence  uint64         `json:"seq"`
	Elements  int            `json:"elements"`
	Peer      int            `json:"peer"`
	Moved     uint64         `json:"moved"`
	For       report.Seconds `json:"for_s"`
}

// Kind names the event.
func (jobStatus) Kind() string { return "status" }

func statusEvent(s rendezvous.Status) jobStatus {
	e := jobStatus{
		JobID: s.JobID, Phase: s.Phase, Generation: s.Generation, WorldSize: s.WorldSize, Present: s.Present, Step: s.Step, StepsPerS: s.StepsPerS,
		RestartsLeft: s.RestartsLeft, Remaining: report.Seconds(s.Remaining), Stall: s.Stall, Kernels: s.Choice(train.KernelsChoice).Value,
		Ranks: []rankStatus{}, Strangers: append([]string{}, s.Strangers...),
	}
	if s.Cause != nil {
		e.Cause = s.Cause.Error()
	}
	for _, r := range s.Ranks {
		e.Ranks = append(e.Ranks, rankStatus{
			Rank: r.Worker.Rank, Present: r.Present, Host: r.Worker.Host, Address: r.Worker.Addr, PID: r.Worker.PID,
			Reason: r.Reason, Missing: report.Seconds(r.Missing), Step: r.Step, Phase: r.Phase, Beat: report.Seconds(r.Beat),
			Operation: r.Wait.Operation, Sequence: r.Wait.Seq, Elements: r.Wait.Elements, Peer: r.Wait.Peer, Moved: r.Wait.Moved, For: report.Seconds(r.For),
		})
	}
	return e
}

// StatusLine returns the state of a job as one line of JSON, without a newline.
func StatusLine(s rendezvous.Status) []byte {
	line, err := report.Line(statusEvent(s), time.Now())
	if err != nil {
		panic("show: a status cannot be written as JSON")
	}
	return bytes.TrimSuffix(line, []byte("\n"))
}
