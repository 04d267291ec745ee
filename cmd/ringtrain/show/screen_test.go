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
// the order of the first ones stays, and lines of programs that only begin like ringtrain's are shown.
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
		{"lines of programs", "[0] step 1\n[0] step 2 of 9: loss 3\nstep 1 of 2 is done\n", "[0] step 1\n[0] step 2 of 9: loss 3\nstep 1 of 2 is done\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var shown bytes.Buffer
				f := &screenFile{out: &shown, screen: &screen{after: mergeTime}}
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

// TestScreenEnds verifies that the causes of ranks wait for the end of a run that a live block shows: a
// cause that the end tells is left out, others stand above the end, and all are shown if no end comes.
func TestScreenEnds(t *testing.T) {
	const causes = "[0] ringtrain: rank 0 at step 5: a\n[1] ringtrain: rank 0 at step 5: a\n[2] ringtrain: b\n"
	for told, want := range map[string]string{
		"rank 0 at step 5: a\nended": "[2] ringtrain: b\n",
		"rank 0 at step 5: a: b":     "",
		"c":                          "ranks 0–1: ringtrain: rank 0 at step 5: a\n[2] ringtrain: b\n",
		"":                           "ranks 0–1: ringtrain: rank 0 at step 5: a\n[2] ringtrain: b\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var shown bytes.Buffer
			f := &screenFile{out: &shown, screen: &screen{after: mergeTime}}
			newLive(f, func() Shape { return Shape{Columns: 80, Rows: 24} }, func() bool { return true })
			fmt.Fprint(f, causes+"[2] note\n")
			time.Sleep(2 * mergeTime)
			synctest.Wait()
			if shown.String() != "[2] note\n" {
				t.Errorf("told=%q: shows %q at first, want the note alone", told, &shown)
			}
			fmt.Fprint(f, "[1] note\n")
			if told != "" {
				f.screen.endRun(told)
			}
			time.Sleep(2 * endTime)
			synctest.Wait()
			if got := strings.ReplaceAll(strings.ReplaceAll(shown.String(), "[2] note\n", ""), "[1] note\n", ""); got != want {
				t.Errorf("told=%q: shows %q, want %q", told, got, want)
			}
		})
	}
}

// TestScreenFlush verifies that flush shows what waits, that long lines do not wait for
// ever, and that two files of one screen are not mixed up.
func TestScreenFlush(t *testing.T) {
	var out, errs bytes.Buffer
	s := &screen{after: time.Hour}
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
	f := &screenFile{out: failing{}, screen: &screen{after: time.Hour}}
	if _, err := f.Write([]byte("line\n")); !errors.Is(err, errFailing) {
		t.Errorf("Write = %v, want %v", err, errFailing)
	}
}

type failing struct{}

var errFailing = errors.New("gone")

func (failing) Write([]byte) (int, error) { return 0, errFailing }

// TestVerboseScreen verifies that a terminal shows each line as it is with --verbose.
func TestVerboseScreen(t *testing.T) {
	var shown bytes.Buffer
	out := NewReporter(&screenFile{out: &shown, screen: &screen{after: time.Hour}}, &shown)
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
