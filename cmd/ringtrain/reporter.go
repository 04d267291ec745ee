package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/model/train"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// reporter tells a run's events: as lines of JSON on standard output, or to
// people. Rank 0 speaks for all; the others say only what is theirs.
type reporter struct {
	rank   int
	json   bool
	stdout io.Writer
	people io.Writer // standard output, or standard error where that carries JSON
	stderr io.Writer
}

func (a *app) newReporter(c *cli.Context, rank int) *reporter {
	r := &reporter{rank: rank, json: wantsJSON(c, a.getenv), stdout: a.stdout, people: a.stdout, stderr: a.stderr}
	if r.json {
		r.people = a.stderr
	}
	return r
}

// event reports one event of the run; the trainer calls it on rank 0 only.
func (r *reporter) event(e report.Event) {
	r.writeJSON(e)
	fmt.Fprintln(r.people, sentence(e))
}

// writeJSON writes the event as one line of JSON, if that is wanted.
func (r *reporter) writeJSON(e report.Event) {
	if !r.json {
		return
	}
	line, err := eventLine(e, time.Now())
	if err != nil {
		fmt.Fprintln(r.stderr, "ringtrain: event "+e.Kind()+": "+err.Error())
		return
	}
	r.stdout.Write(line)
}

// eventLine is the JSON object of an event, with its name and time in front,
// and a newline.
func eventLine(e report.Event, now time.Time) ([]byte, error) {
	head, err := json.Marshal(struct {
		Event string `json:"event"`
		Time  string `json:"time"`
	}{e.Kind(), now.UTC().Format(time.RFC3339Nano)})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	head = head[:len(head)-1]
	if len(body) > 2 {
		head = append(head, ',')
	}
	return append(append(head, body[1:]...), '\n'), nil
}

// waiting reports who is missing at the start.
func (r *reporter) waiting(w rendezvous.Waiting) {
	if r.rank <= 0 {
		r.writeJSON(waitingEvent(w))
	}
	fmt.Fprintln(r.stderr, "waiting: "+w.String())
}

// fail reports the first cause of the job's end as this rank's last line, and
// returns an error with its code and without a text.
func (r *reporter) fail(c *ring.Cause) error {
	if r.rank <= 0 {
		r.writeJSON(failureEvent(c))
	}
	fmt.Fprintln(r.stderr, "ringtrain: "+c.Error())
	return textless(max(c.ExitCode, exitcode.Failed))
}

// end reports the digest as this rank's last line, and before it why the job has
// stopped, if it has.
func (r *reporter) end(result train.Result, stop *ring.Cause) {
	whose := ""
	if stop != nil {
		if r.rank == 0 {
			r.writeJSON(failureEvent(stop))
		}
		if stop.Rank >= 0 && stop.Rank != r.rank {
			whose = fmt.Sprintf(" to rank %d on %s", stop.Rank, stop.Host)
		}
	}
	if result.Stopped != 0 {
		fmt.Fprintf(r.stderr, "stopped by a signal%s after step %d\n", whose, result.Step)
	}
	fmt.Fprintln(r.stderr, "digest="+result.Digest)
}
