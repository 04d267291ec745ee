package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"ringtrain/model/train"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// reporter writes a run's events: as lines of JSON to standard output, or as sentences.
// Rank 0 reports for the job; the other ranks report only their own messages.
type reporter struct {
	rank   int
	json   bool
	stdout io.Writer
	people io.Writer // for sentences: standard output, or standard error with JSON
	stderr io.Writer
	metric string // of the last evaluation, for people
	quiet  bool   // people get warnings, errors and the result alone
	result string // line of the last evaluation, which quiet keeps for the end
}

func (a *app) newReporter(c *cli.Context, rank int) *reporter {
	r := &reporter{rank: rank, json: wantsJSON(c, a.getenv), quiet: c.Bool("quiet"), stdout: a.stdout, people: a.stdout, stderr: a.stderr}
	if c.Bool("verbose") {
		a.showAll()
	}
	if r.json {
		r.people = a.stderr
	}
	return r
}

// showAll has a terminal get each line as it is.
func (a *app) showAll() {
	for _, w := range []io.Writer{a.stdout, a.stderr} {
		if s, ok := w.(*sink); ok {
			w = s.w
		}
		if f, ok := w.(*screenFile); ok {
			f.screen.showAll()
		}
	}
}

// wantOneVolume refuses --quiet together with --verbose.
func wantOneVolume(c *cli.Context) error {
	if c.Bool("quiet") && c.Bool("verbose") {
		return exitcode.With(exitcode.Usage, errors.New("--quiet and --verbose are given, want one of them"))
	}
	return nil
}

// event reports one event of the run. The trainer calls event on rank 0 only.
func (r *reporter) event(e report.Event) {
	r.writeJSON(e)
	line := sentence(e)
	switch e := e.(type) {
	case report.Metrics:
		if e.Name == "" {
			r.metric, r.result = metricText(e), line
		}
	case report.Step:
		line = stepSentence(e, r.metric)
	}
	if !r.quiet {
		fmt.Fprintln(r.people, line)
		return
	}
	switch e.(type) {
	case report.Done:
		if r.result != "" {
			line = r.result + "\n" + line
		}
		fmt.Fprintln(r.people, line)
	case report.Warning, report.Generation:
		fmt.Fprintln(r.people, line)
	}
}

// writeJSON writes the event as one line of JSON, if JSON is selected.
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

// eventLine returns the JSON object of an event, with its name and time first, and a
// newline.
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

// waiting reports the missing ranks of an incomplete start.
func (r *reporter) waiting(w rendezvous.Waiting) {
	if r.rank <= 0 {
		r.writeJSON(waitingEvent(w))
	}
	fmt.Fprintln(r.stderr, "waiting: "+w.String())
}

// fail reports the first cause of the job's end as this rank's last line; a rank alone has a line for
// each fault of a job. It returns a silent error with the exit code.
func (r *reporter) fail(c *ring.Cause) error {
	if r.rank <= 0 {
		r.writeJSON(failureEvent(c))
	}
	fmt.Fprintln(r.stderr, "ringtrain: "+strings.ReplaceAll(c.Error(), "\n", "\nringtrain: "))
	return silentError(max(c.ExitCode, exitcode.Failed))
}

// end reports the digest as this rank's last line, and before it the reason if the job
// was stopped.
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
