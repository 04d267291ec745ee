package main

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
// the order of the first ones stays, and a line about a step is replaced.
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
		{"digests", "[0] digest=ab\ndigest=cd\n[1] end\n", "[1] end\n"},
		{"no rank", "[x] a\n[] b\n[1]c\n", "[x] a\n[] b\n[1]c\n"},
		{"a step is replaced", "[0] step 1\n[0] step 2\n[1] done\n", "[0] step 1\r\x1b[K[0] step 2\r\x1b[K[1] done\n"},
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
