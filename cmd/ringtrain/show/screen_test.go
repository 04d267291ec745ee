package show

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestScreen verifies what a terminal shows of the lines of ranks: equal lines are merged,
// the order of the first ones stays, a line about a step is replaced, and lines of programs that
// only begin like ringtrain's are shown.
func TestScreen(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"equal lines", "[0] no file\n[2] no file\n[1] no file\n", "ranks 0–2: no file\n"},
		{"gaps", "[0] a\n[1] a\n[5] a\n", "ranks 0–1, 5: a\n"},
		{"different lines", "[0] a\n[1] b\n", "[0] a\n[1] b\n"},
		{"order of the first", "[1] a\n[0] b\n[0] a\n", "ranks 0–1: a\n[0] b\n"},
		{"twice by one rank", "[0] a\n[0] a\n[1] a\n", "ranks 0–1: a\n[0] a\n"},
		{"line of the launcher between", "[0] a\nringtrain: end\n[1] a\n", "[0] a\nringtrain: end\n[1] a\n"},
		{"no rank", "[x] a\n[] b\n[1]c\n", "[x] a\n[] b\n[1]c\n"},
		{"a step is replaced", "[0] step 1 of 2  epoch 1  loss 3\n[0] step 2 of 2  epoch 1  loss NaN\n[1] done\n", "step 1 of 2\r\x1b[Jstep 2 of 2\r\x1b[J[1] done\n"},
		{"lines of programs", "[0] step 1\n[0] step 2 of 9: loss 3\nstep 1 of 2 is done\n", "[0] step 1\n[0] step 2 of 9: loss 3\nstep 1 of 2 is done\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var shown bytes.Buffer
				f := &screenFile{out: &shown, screen: &screen{draws: true, after: mergeTime, width: func() int { return 20 }}}
				if n, err := f.Write([]byte(tt.in)); n != len(tt.in) || err != nil {
					t.Errorf("Write = %d, %v, want %d", n, err, len(tt.in))
				}
				time.Sleep(2 * mergeTime)
				synctest.Wait()
				if got := shown.String(); got != tt.want {
					t.Errorf("shows %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestScreenFlush verifies that flush shows what waits, that long lines do not wait for
// ever, and that two files of one screen are not mixed up.
func TestScreenFlush(t *testing.T) {
	var out, errs bytes.Buffer
	s := &screen{after: time.Hour, width: func() int { return 80 }}
	a, b := &screenFile{&out, s}, &screenFile{&errs, s}
	fmt.Fprint(a, "[0] x\n")
	fmt.Fprint(b, "[1] x\n")
	s.flush()
	if out.String() != "[0] x\n" || errs.String() != "[1] x\n" {
		t.Errorf("shows %q and %q, want one line each", &out, &errs)
	}
	fmt.Fprintf(a, "[0] %s\n", strings.Repeat("y", maxPending))
	if out.Len() < maxPending {
		t.Errorf("%d bytes are shown, want all: more than maxPending wait", out.Len())
	}
}

// TestScreenEnd verifies that the end of a process completes the line of a bar, once, where the bar
// was written, and shows the lines that wait.
func TestScreenEnd(t *testing.T) {
	var out, errs bytes.Buffer
	s := &screen{draws: true, after: time.Hour, width: func() int { return 20 }}
	f := &screenFile{&out, s}
	fmt.Fprint(f, "step 1 of 2  epoch 1  loss 3\n")
	s.end()
	s.end()
	if want := "step 1 of 2\n"; out.String() != want {
		t.Errorf("shows %q, want %q", &out, want)
	}
	out.Reset()
	fmt.Fprint(&screenFile{&errs, s}, "[1] x\n")
	s.end()
	if out.Len() > 0 || errs.String() != "[1] x\n" {
		t.Errorf("shows %q and %q, want the line that waits", &out, &errs)
	}
}

// TestBoundWrite verifies that a write for which nobody reads is left after messageTimeout, and that
// the return of any other write is awaited.
func TestBoundWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, written := make(chan struct{}), false
		began := time.Now()
		Bound(func() { <-read })
		if took := time.Since(began); took != messageTimeout {
			t.Errorf("returns after %v, want %v", took, messageTimeout)
		}
		close(read)
		Bound(func() {
			time.Sleep(messageTimeout - 1)
			written = true
		})
		if !written {
			t.Error("returns before the write")
		}
	})
}

// TestScreenGone verifies that a terminal that is gone is an error of the next line.
func TestScreenGone(t *testing.T) {
	f := &screenFile{out: failing{}, screen: &screen{after: time.Hour, width: func() int { return 80 }}}
	if _, err := f.Write([]byte("line\n")); !errors.Is(err, errFailing) {
		t.Errorf("Write = %v, want %v", err, errFailing)
	}
}

type failing struct{}

var errFailing = errors.New("gone")

func (failing) Write([]byte) (int, error) { return 0, errFailing }

// TestProgressBar verifies what a bar shows in some widths: facts that do not fit are left out from
// the end, and no line is longer than the width.
func TestProgressBar(t *testing.T) {
	const facts = "step 750 of 3000  epoch 2  loss 0.27  310,000 examples/s  12s left  input 3 %"
	for _, tt := range []struct {
		width int
		want  string
	}{
		{0, ""},
		{10, "step 750 o"},
		{25, "step 750 of 3000"},
		{40, "[=>        ] step 750 of 3000  epoch 2"},
		{60, "[==>         ] step 750 of 3000  epoch 2  loss 0.27"},
		{200, "[=======>                          ] " + facts},
	} {
		got := progressBar(facts, tt.width)
		if len(got) > tt.width || strings.Trim(got, "[]=> ") != strings.Trim(tt.want, "[]=> ") || strings.Contains(got, "[") != strings.Contains(tt.want, "[") {
			t.Errorf("width=%d: %q, want %q", tt.width, got, tt.want)
		}
	}
	if got := progressBar("学步", 1); got != "学" {
		t.Errorf("in one column: %q, want a whole character", got)
	}
	for _, other := range []string{"step 5", "step x of y", "step 1 of 0", "step 7 of 5"} {
		if got := progressBar(other, 40); !strings.Contains(got, other) || len(got) > 40 {
			t.Errorf("%q becomes %q", other, got)
		}
	}
}

// TestNarrowedScreen verifies that a bar that is wider than the terminal has become stays: some
// terminals cut it and others show it on several rows, so that what stands above might be cleared.
func TestNarrowedScreen(t *testing.T) {
	var shown bytes.Buffer
	width := 100
	f := &screenFile{out: &shown, screen: &screen{draws: true, after: time.Hour, width: func() int { return width }}}
	line := func() {
		fmt.Fprintln(f, "step 750 of 3000  epoch 2  loss 0.27  310,000 examples/s  12s left  input 3 %")
	}
	line()
	columns := shown.Len()
	width = 30
	shown.Reset()
	line()
	if got := shown.String(); columns > 99 || !strings.HasPrefix(got, "\n[") || strings.Contains(got, "\x1b") {
		t.Errorf("after %d columns shows %q, want a new line and a bar", columns, got)
	}
}

// TestVerboseScreen verifies that a terminal shows each line as it is with --verbose.
func TestVerboseScreen(t *testing.T) {
	var shown bytes.Buffer
	out := NewReporter(&screenFile{out: &shown, screen: &screen{after: time.Hour, width: func() int { return 80 }}}, &shown)
	All(out)
	lines := "[0] no file\n[1] no file\n"
	fmt.Fprint(out, lines)
	if shown.String() != lines {
		t.Errorf("shows %q, want %q", shown.String(), lines)
	}
}

// TestCausesInFiles verifies that a file gets each line at once and as it is, but the causes of ranks:
// those become one line, ahead of a later line of one of these ranks.
func TestCausesInFiles(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"cause of all", "[1] ringtrain: no file\n[0] ringtrain: no file\n[2] ringtrain: no file\n", "ranks 0–2: ringtrain: no file\n"},
		{"different causes", "[1] ringtrain: a\n[0] ringtrain: b\n", "[1] ringtrain: a\n[0] ringtrain: b\n"},
		{"other lines", "[0] a\n[1] a\n[0] step 1 of 2  epoch 1  loss 3\n", "[0] a\n[1] a\n[0] step 1 of 2  epoch 1  loss 3\n"},
		{"another rank's line between", "[1] ringtrain: a\n[0] x\n[0] ringtrain: a\n", "[0] x\nranks 0–1: ringtrain: a\n"},
		{"a later line of the rank", "[1] ringtrain: a\n[1] exit=64\n", "[1] ringtrain: a\n[1] exit=64\n"},
		{"line of the launcher between", "[0] ringtrain: a\nringtrain: end\n", "[0] ringtrain: a\nringtrain: end\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var shown bytes.Buffer
			joined, end := JoinCauses(&shown)
			if n, err := fmt.Fprint(joined, tt.in); n != len(tt.in) || err != nil {
				t.Errorf("Write = %d, %v, want %d", n, err, len(tt.in))
			}
			end()
			if got := shown.String(); got != tt.want {
				t.Errorf("shows %q, want %q", got, tt.want)
			}
		})
	}
}
