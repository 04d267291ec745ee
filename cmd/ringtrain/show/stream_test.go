package show

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/model/train"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/launch/process"
)

// TestReadEnd verifies that all lines are passed on in order, and that an error event that is only a
// symptom is dropped: the views and standard output get one error event with the code of the launcher.
func TestReadEnd(t *testing.T) {
	const start = `{"event":"start"}` + "\n"
	const step, theirs = `{"event":"row"}` + "\n", `{"event":"error","rank":0,"exit_code":65}` + "\n"
	coded := func(rank, code int) string {
		return fmt.Sprintf(`{"event":"error","rank":%d,"more":1,"exit_code":%d}`+"\n", rank, code)
	}
	fault, failed := errors.New("no such host"), launch.Result{Code: 65, Text: "rank 0 …"}
	killed := launch.Result{Code: 137, Rank: 2, Text: "rank 2 was killed"}
	own := func(rank, code int) string { return fmt.Sprintf("own %d %d\n", rank, code) } // an event of the launcher
	tests := []struct {
		name string
		said string
		res  launch.Result
		err  error
		out  string
	}{
		{"rank 0 failed", step + theirs, failed, nil, step + theirs},
		{"rank 0 is gone", step, failed, nil, step + own(0, 65)},
		{"rank 0 was started again", theirs + step, failed, nil, theirs + step},
		{"rank 0 was started again, and is gone", start + step + theirs + start + step + step, failed, nil, start + step + theirs + start + step + step + own(0, 65)},
		{"rank 0 was started again, in vain", step + coded(0, 138) + theirs, failed, nil, step + theirs},
		{"the launcher failed first", step + theirs, launch.Result{Rank: -1}, fault, step + own(-1, 1)},
		{"the launcher failed later", step + theirs, failed, fault, step + theirs},
		{"rank 0 was told another code", step + coded(2, 138), killed, nil, step + own(2, 137)},
		{"rank 0 knew another cause", step + coded(1, 138), killed, nil, step + coded(1, 138)},
		{"rank 0 was told to end after a failure", step + coded(0, 143), killed, nil, step + own(2, 137)},
		{"rank 0 was told to end when time was up", step + coded(-1, 143), launch.Result{Code: 110, Rank: -1, Text: "not done"}, nil, step + own(-1, 110)},
		{"all were told to end", step + coded(-1, 143), launch.Result{Code: 143, Rank: -1, Text: "stopped"}, nil, step + coded(-1, 143)},
		{"nobody reads", step + theirs, launch.Result{Code: 65, Unread: true}, nil, step},
		{"no end", step + "no event\n", launch.Result{}, nil, step + "no event\n"},
	}
	for _, tt := range tests {
		for name, read := range map[string]func(*Reporter, []byte) launch.Text{"job": (*Reporter).Read, "program": (*Reporter).Pass} {
			t.Run("end="+tt.name+"/"+name, func(t *testing.T) {
				var out bytes.Buffer
				var ends []int
				r := NewReporter(&out, io.Discard)
				r.JSON = true
				r.Views = []View{func(s report.Stamped) {
					if e, ok := s.Event.(report.Failure); ok {
						ends = append(ends, e.ExitCode)
					}
				}}
				for line := range strings.Lines(tt.said) {
					b := []byte(line)
					out.Write(read(r, b).Out)
					clear(b) // the launcher's buffer
				}
				err := r.EndLaunch(tt.res, tt.err)
				if failed := tt.err != nil || tt.res.Code != 0; (err != nil) != failed || failed && !r.Told() {
					t.Errorf("it ends with %v, told %t", err, r.Told())
				}
				if got := ownEnd(out.String(), tt.said); got != tt.out {
					t.Errorf("standard output is %q, want %q", got, tt.out)
				}
				last := []int{tt.res.Code}
				switch {
				case tt.res.Text == "" && tt.err != nil:
					last[0] = 1
				case tt.name == "rank 0 knew another cause":
					last[0] = 138
				}
				if name == "job" && err != nil && (len(ends) == 0 || !slices.Equal(ends[len(ends)-1:], last)) {
					t.Errorf("a view reads ends with %d, the last one with %d", ends, last)
				}
			})
		}
	}
}

// ownEnd returns lines in which an error event that rank 0 has not said is short.
func ownEnd(lines, said string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		s, err := report.Parse([]byte(line))
		e, ok := s.Event.(report.Failure)
		if err == nil && ok && !strings.Contains(said, line) {
			line = fmt.Sprintf("own %d %d\n", e.Rank, e.ExitCode)
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestReadSteps verifies that views read each step of the stream, that standard output gets the sums of
// log.every as sentences or as JSON without the mark, and that loads of ranks are lines of --verbose alone.
func TestReadSteps(t *testing.T) {
	at := time.Date(2026, 11, 26, 17, 0, 0, 0, time.UTC)
	step := func(n, examples int64, due *report.Number) report.Step {
		return report.Step{Step: n, Steps: 4, Epoch: 1, Examples: examples, Loss: 2, Interval: report.Seconds(time.Second), Due: due}
	}
	stream := []report.Event{
		report.Start{Job: "j", WorldSize: 2}, step(1, 10, nil), step(2, 30, report.NewNumber(3)), report.Ranks{Step: 2}, step(3, 10, nil),
		report.Metrics{Step: 3, Split: "eval", Accuracy: report.NewNumber(0.5), Correct: new(int64)}, report.Checkpointed{Step: 3}, report.Checkpointed{Step: 4},
		step(4, 10, report.NewNumber(5)), report.Waiting{},
	}
	const words = "j …\n2 …\nstep 2 of 4  epoch 1  loss 3  20 …\neval …\ncheckpoint …\nstep 4 of 4  epoch 1  loss 5  accuracy 0.5000  10 …\n"
	for _, tt := range []struct{ json, verbose, quiet bool }{{}, {json: true}, {json: true, verbose: true}, {json: true, quiet: true}, {quiet: true}} {
		var seen int
		r := NewReporter(io.Discard, io.Discard)
		r.JSON, r.Verbose, r.Quiet, r.Views = tt.json, tt.verbose, tt.quiet, []View{func(report.Stamped) { seen++ }}
		var all launch.Text
		for _, e := range stream {
			line, err := report.Line(e, at)
			if err != nil {
				t.Fatal(err)
			}
			text := r.Read(line)
			all.Out, all.Err, all.File = append(all.Out, text.Out...), append(all.Err, text.Err...), append(all.File, text.File...)
		}
		if seen != len(stream) || !bytes.Equal(all.Out, all.File) {
			t.Errorf("%+v: a view reads %d events of %d, the file has %q", tt, seen, len(stream), all.File)
		}
		said := all.Out
		if tt.json {
			said = all.Err
			checkSums(t, all.Out, len(stream)-3, tt.verbose)
		}
		var short strings.Builder
		for line := range strings.Lines(string(said)) {
			head, _, _ := strings.Cut(line, " examples/s")
			if f := strings.Fields(head); len(f) > 0 && f[0] != "step" {
				head = f[0]
			}
			short.WriteString(head + " …\n")
		}
		if want := map[bool]string{false: words, true: ""}[tt.quiet]; short.String() != want {
			t.Errorf("%+v: people read %q, want %q", tt, short.String(), want)
		}
	}
}

// checkSums verifies the lines of --json.
func checkSums(t *testing.T, out []byte, want int, verbose bool) {
	t.Helper()
	var examples []int64
	lines := 0
	for line := range bytes.Lines(out) {
		s, err := report.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		lines++
		switch e := s.Event.(type) {
		case report.Step:
			examples = append(examples, e.Examples)
			if e.Due != nil {
				t.Errorf("step %d has the mark of the stream", e.Step)
			}
		case report.Ranks:
			want++
		}
	}
	if lines != want || !slices.Equal(examples, []int64{40, 20}) || verbose != bytes.Contains(out, []byte(`"ranks"`)) {
		t.Errorf("%d lines, want %d; steps of %d examples, want 40 and 20\n%s", lines, want, examples, out)
	}
}

// TestReadDigest verifies that rank 0 hands its digest to the launcher, which tells it behind all else that people
// read of rank 0, whatever else they read, also of a run that was stopped, unless standard error is a terminal.
func TestReadDigest(t *testing.T) {
	for _, stopped := range []int{0, exitcode.Terminated} {
		for _, tt := range []struct{ json, quiet, watched bool }{{}, {json: true}, {json: true, quiet: true}, {quiet: true}, {watched: true}, {json: true, watched: true}} {
			var stream, own bytes.Buffer
			rank := NewReporter(&stream, &own)
			rank.JSON, rank.Whole, rank.Watched = true, true, tt.watched
			rank.End(train.Result{Digest: "ab", Stopped: stopped}, nil)
			r := NewReporter(io.Discard, io.Discard)
			r.JSON, r.Quiet, r.Watched = tt.json, tt.quiet, tt.watched
			told := ""
			for line := range bytes.Lines(stream.Bytes()) {
				text := r.Read(line)
				told += string(text.Out) + string(text.Err) + string(text.Last)
			}
			if strings.Contains(own.String(), "digest") || (told == "digest=ab\n") == tt.watched {
				t.Errorf("stopped %d, %+v: the launcher tells %q, rank 0 itself %q", stopped, tt, told, &own)
			}
		}
	}
}

// TestReasons verifies that of the reasons of ranks a terminal shows those alone that the end of a run does not tell, each once.
func TestReasons(t *testing.T) {
	var shown bytes.Buffer
	f := &screenFile{&shown, &screen{shape: func() Shape { return Shape{Columns: 80, Rows: 24} }}}
	r := NewReporter(f, f)
	f.screen.follow(&shown, &r.run, func() bool { return false })
	r.live, r.OneOutput = f.screen, true
	ended := func(rank int, why string) process.Ending { return process.Ending{Rank: rank, Why: why} }
	r.EndLaunch(launch.Result{Code: 65, Rank: 0, Host: "a", Text: "bad file", Reasons: []process.Ending{ended(0, "bad file"), ended(1, "no file"), ended(2, "no file")}}, nil)
	if want := "[1] ringtrain: no file\nfailed   rank 0 on a: bad file\n"; shown.String() != want {
		t.Errorf("shows %q, want %q", &shown, want)
	}
}

// TestStream verifies that a launcher that does not read holds no event up for some minutes.
func TestStream(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r := NewReporter(out, io.Discard)
	r.JSON = true
	r.Stream()
	const steps = 500 // of more bytes than the usual pipe holds
	for n := range int64(steps) {
		r.Event(report.Step{Step: n + 1})
	}
	out.Close()
	text, err := io.ReadAll(in)
	if lines := bytes.Count(text, []byte("\n")); err != nil || lines != steps || len(text) < 1<<16 {
		t.Errorf("%d lines of %d bytes, %v, want %d", lines, len(text), err, steps)
	}
}
