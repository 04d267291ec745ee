package show

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"ringtrain/input/remote"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// A View reads the events of a run: each one once, in order and one at a time. The event of the end
// comes when its first cause is known. A View neither blocks nor fails the run.
type View func(report.Stamped)

// keptError is the error event of rank 0, as long as another cause may come before it.
type keptError struct {
	report.Stamped
	line []byte
}

// Event takes an event of this process: the trainer calls it on rank 0 only. The launcher's rank 0 hands
// it on, and any other process shows it.
func (r *Reporter) Event(e report.Event) {
	if r.Whole {
		r.Emit(e)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(r.take(report.Stamped{Event: e, Time: time.Now()}, nil))
}

// Read takes a line of a job's rank 0 and returns what the outputs get of it. It is the launcher's
// [launch.Reader].
func (r *Reporter) Read(line []byte) launch.Text { return r.read(line, r.take) }

// digestLine is the last line of a rank.
func digestLine(digest string) []byte { return []byte("digest=" + digest + "\n") }

// Pass is Read for a program whose lines stay as they are.
func (r *Reporter) Pass(line []byte) launch.Text {
	return r.read(line, func(_ report.Stamped, line []byte) launch.Text { return launch.Text{Out: line, File: line} })
}

// read takes a line. It keeps an error event back while the event is the last line: if the launcher
// fails first, it ends rank 0, which then reports this as the cause.
func (r *Reporter) read(line []byte, take func(report.Stamped, []byte) launch.Text) launch.Text {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := report.Parse(line)
	switch e := s.Event.(type) {
	case report.Past:
		if past, err := report.Parse(e.Of); err == nil && r.Past != nil { // else it is one that is known
			r.Past(past)
		}
		return launch.Text{}
	case report.Digest: // behind all that people read of rank 0
		return launch.Text{Last: digestLine(e.Digest)}
	}
	if _, failed := s.Event.(report.Failure); failed { // after another one: rank 0 was restarted and failed before its start event
		r.kept = &keptError{s, bytes.Clone(line)}
		if !r.JSON {
			return launch.Text{}
		}
		return launch.Text{File: line}
	}
	var before []byte
	if kept := r.kept; kept != nil { // for people it is no end
		if text := take(kept.Stamped, kept.line); r.JSON {
			before = text.Out
		}
		r.kept, r.told = nil, true
	}
	if err != nil { // no event
		return launch.Text{Out: append(before, line...), File: line}
	}
	if _, begun := s.Event.(report.Start); begun { // rank 0 was restarted: its earlier error events do not count
		r.told, r.Past = false, nil
	}
	text := take(s, line)
	text.Out = append(before, text.Out...)
	return text
}

// HandPast hands an event of an earlier attempt to the launcher.
func (r *Reporter) HandPast(s report.Stamped) {
	line, err := report.Line(s.Event, s.Time)
	if err == nil {
		r.Emit(report.Past{Of: line})
	}
}

// take hands an event to the views and returns what the outputs get of it. line is its JSON, nil if it
// is not made yet. Steps become the sums of log.every. The caller holds r.mu.
func (r *Reporter) take(s report.Stamped, line []byte) launch.Text {
	for _, view := range r.Views {
		view(s)
	}
	r.run.add(s.Event)
	if r.live != nil {
		r.live.touch()
	}
	switch e := s.Event.(type) {
	case report.Start:
		r.steps = report.Sum{}
	case report.Step:
		sum, due := r.steps.Add(e)
		if !due {
			return launch.Text{}
		}
		s.Event, line = sum, nil
	case report.Ranks:
		if !r.Verbose {
			return launch.Text{}
		}
	}
	words := []byte(r.words(s.Event, Shape{}))
	switch {
	case r.live != nil:
		return launch.Text{Out: []byte(r.words(s.Event, r.live.shape())), File: words}
	case !r.JSON:
		return launch.Text{Out: words, File: words}
	}
	if line == nil {
		line = r.jsonOf(s)
	}
	return launch.Text{Out: line, Err: words, File: line}
}

// endStream tells or drops the error event of rank 0 after all ranks have ended. It drops the event if
// the launcher failed before any rank.
func (r *Reporter) endStream(res launch.Result, err error) {
	kept := r.kept
	r.kept = nil
	if kept == nil || err != nil && res.Text == "" {
		return
	}
	told := kept.Event.(report.Failure)
	if res.Code != exitcode.OK && told.ExitCode != res.Code {
		if told.ExitCode == exitcode.Terminated || told.ExitCode == exitcode.Interrupted { // a rank had failed before, or the time limit had passed
			return
		}
		if told.Rank == res.Rank { // a rank does not know the code of a rank that was killed or refused alone
			told.ExitCode = res.Code
			kept = &keptError{report.Stamped{Event: told, Time: kept.Time}, nil}
		}
	}
	r.end(kept.Stamped, kept.line, res)
}

// end tells the event of the end of a launch. If nobody reads standard output, a write might block forever.
func (r *Reporter) end(s report.Stamped, line []byte, res launch.Result) {
	text := r.take(s, line)
	if !res.Unread {
		r.tellReasons(res, causeOf(s.Event.(report.Failure)).Error())
		r.write(text)
	}
	r.told = true
}

// tellReasons tells why ranks have ended, where the launcher has left that to this process, but what the end tells.
func (r *Reporter) tellReasons(res launch.Result, end string) {
	if !r.TellsEnd() || r.Verbose {
		return
	}
	told := end + "\n" + res.Text
	for _, e := range res.Reasons {
		if !strings.Contains(told, e.Why) {
			fmt.Fprintf(r.Stderr, "[%d] ringtrain: %s\n", e.Rank, e.Why)
			told += "\n" + e.Why
		}
	}
}

// write writes the text of an event of this process.
func (r *Reporter) write(t launch.Text) {
	r.Stdout.Write(t.Out) // the writer keeps a fault
	r.Stderr.Write(t.Err)
}

// jsonOf returns the line of an event.
func (r *Reporter) jsonOf(s report.Stamped) []byte {
	line, err := report.Line(s.Event, s.Time)
	if err != nil {
		fmt.Fprintln(r.Stderr, "ringtrain: event "+s.Kind()+": "+err.Error())
	}
	return []byte(remote.Named(string(line)))
}

// words returns the lines for people of an event that r.run has taken, "" for none: those of a file, or, with the shape of a
// terminal, those above a live block, which shows the rest.
func (r *Reporter) words(e report.Event, shape Shape) string {
	above := shape.Columns > 0
	switch e.(type) {
	case report.Warning, report.Generation, report.Done, report.Failure:
	case report.Start, report.Decision, report.Progressive:
		if r.Quiet {
			return ""
		}
	default:
		if r.Quiet || above {
			return ""
		}
	}
	lines := []string{Sentence(e)}
	switch e := e.(type) {
	case report.Waiting, report.Ranks, report.Unknown: // each rank says for whom it waits
		return ""
	case report.Start:
		lines = r.run.header(shape)
	case report.Decision:
		if r.run.saysNothing(e) {
			return ""
		}
	case report.Step:
		lines[0] = stepSentence(e, r.run.metric())
	case report.Checkpointed:
		if r.run.eval != nil && e.Step == r.run.eval.Step { // the evaluation has its line
			return ""
		}
	case report.Done:
		if above {
			lines = nil
		}
		lines = append(lines, r.run.result(r.next, shape)...)
	case report.Failure:
		lines = nil
		if above { // else each rank says how it ends
			lines = r.run.cause(e)
		}
		lines = append(lines, r.run.rest(e, r.next)...)
	}
	return paragraph(lines)
}

// paragraph returns printable lines, each with its newline.
func paragraph(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return printed(strings.Join(lines, "\n"), math.MaxInt) + "\n"
}
