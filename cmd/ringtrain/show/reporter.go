package show

import (
	"fmt"
	"io"
	"strings"
	"time"

	"ringtrain/model/train"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// A Reporter writes a run's events: as lines of JSON to standard output, or as sentences.
// Rank 0 reports for the job; the other ranks report only their own messages.
type Reporter struct {
	Rank   int
	JSON   bool
	Quiet  bool // people get warnings, errors and the result alone
	Stdout io.Writer
	People io.Writer // for sentences: standard output, or standard error with JSON
	Stderr io.Writer

	steps     report.Sum
	metric    string // of the last evaluation, for people
	result    string // line of the last evaluation, which Quiet keeps for the end
	evaluated int64  // step of the last evaluation
}

// Event reports one event of the run. The trainer calls it on rank 0 only.
func (r *Reporter) Event(e report.Event) {
	if step, ok := e.(report.Step); ok {
		sum, due := r.steps.Add(step)
		if !due {
			return
		}
		e = sum
	}
	r.Emit(e)
	line := Sentence(e)
	switch e := e.(type) {
	case report.Metrics:
		if e.Name == "" {
			r.metric, r.result, r.evaluated = metricText(e), line, e.Step
		}
	case report.Step:
		line = stepSentence(e, r.metric)
	case report.Checkpointed:
		if e.Step == r.evaluated {
			return // the evaluation has its line
		}
	}
	if !r.Quiet {
		fmt.Fprintln(r.People, line)
		return
	}
	switch e.(type) {
	case report.Done:
		if r.result != "" {
			line = r.result + "\n" + line
		}
		fmt.Fprintln(r.People, line)
	case report.Warning, report.Generation:
		fmt.Fprintln(r.People, line)
	}
}

// Emit writes the event as one line of JSON, if JSON is selected.
func (r *Reporter) Emit(e report.Event) {
	if !r.JSON {
		return
	}
	line, err := report.Line(e, time.Now())
	if err != nil {
		fmt.Fprintln(r.Stderr, "ringtrain: event "+e.Kind()+": "+err.Error())
		return
	}
	r.Stdout.Write(line)
}

// Waiting reports the missing ranks of an incomplete start.
func (r *Reporter) Waiting(w rendezvous.Waiting) {
	if r.Rank <= 0 {
		r.Emit(waitingEvent(w))
	}
	fmt.Fprintln(r.Stderr, "waiting: "+w.String())
}

// Fail reports the first cause of the job's end as this rank's last line; a rank alone has a line for
// each fault of a job. It returns a silent error with the exit code.
func (r *Reporter) Fail(c *ring.Cause) error {
	if r.Rank <= 0 {
		r.Emit(Failure(c))
	}
	fmt.Fprintln(r.Stderr, "ringtrain: "+strings.ReplaceAll(c.Error(), "\n", "\nringtrain: "))
	return Silent(max(c.ExitCode, exitcode.Failed))
}

// End reports the digest as this rank's last line, and before it the reason if the job
// was stopped.
func (r *Reporter) End(result train.Result, stop *ring.Cause) {
	whose := ""
	if stop != nil {
		if r.Rank == 0 {
			r.Emit(Failure(stop))
		}
		if stop.Rank >= 0 && stop.Rank != r.Rank {
			whose = fmt.Sprintf(" to rank %d on %s", stop.Rank, stop.Host)
		}
	}
	if result.Stopped != 0 {
		fmt.Fprintf(r.Stderr, "stopped by a signal%s after step %d\n", whose, result.Step)
	}
	fmt.Fprintln(r.Stderr, "digest="+result.Digest)
}

// Line prints a row of a table, or its event, on rank 0.
func (r *Reporter) Line(e report.Event) {
	switch {
	case r.Rank != 0:
	case r.JSON:
		r.Emit(e)
	default:
		fmt.Fprintln(r.Stdout, e)
	}
}

// Head prints the head of a table on rank 0, unless events are printed.
func (r *Reporter) Head(text string) {
	if r.Rank == 0 && !r.JSON {
		fmt.Fprintln(r.Stdout, text)
	}
}
