package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/phrase"
)

// hostile has characters that no terminal, log or line of JSON may get: C0, C1, bidi, a line separator.
const hostile = "a\x1b[2J\u009b31m\u202e\u2066\u2028\u0085\x7f\U000e0001z"

// TestPrintable verifies that lines of text keep their ends and tabs and lose what is not printable, and
// that a line that is too long is cut.
func TestPrintable(t *testing.T) {
	var out bytes.Buffer
	w := Printable(&out, 30)
	for _, text := range []string{"Zürich\n", "a\tb\n\nc", "", hostile + "\n", "\xff\n" + strings.Repeat("x", 40) + "\n", "\n"} {
		if n, err := fmt.Fprint(w, text); n != len(text) || err != nil {
			t.Errorf("%q: wrote %d bytes, %v", text, n, err)
		}
	}
	want := "Zürich\na\tb\n\nca?[2J?31m??????z\n?\n" + strings.Repeat("x", 27) + "…\n\n"
	if out.String() != want {
		t.Errorf("wrote %q, want %q", &out, want)
	}
}

// TestLinePrintable verifies that the JSON of an event is printable in any field, and that a program
// reads the name that the event has. The cause of a job's end is a foreign text.
func TestLinePrintable(t *testing.T) {
	line, err := report.Line(report.Warning{Set: hostile, Cause: "\xff"}, time.Now())
	if err != nil || strings.ContainsFunc(strings.TrimSuffix(string(line), "\n"), notPrintable) {
		t.Fatalf("the line is %q, %v", line, err)
	}
	var read report.Warning
	if err := json.Unmarshal(line, &read); err != nil || read.Set != hostile {
		t.Errorf("a program reads %q, %v, want %q", read.Set, err, hostile)
	}
	end := Failure(&ring.Cause{Text: hostile + "\n" + hostile})
	if want := phrase.Foreign(hostile, 99); end.Cause != want+"\n"+want {
		t.Errorf("the cause is %q, want twice %q", end.Cause, want)
	}
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }
