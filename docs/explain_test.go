package docs

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// codeOf matches the first exit code of an entry.
var codeOf = regexp.MustCompile(`Exit\s+code\s+(\d+)`)

// TestExplain verifies that each kind of message has an entry in when-it-breaks.md and each entry
// its kind, that the example in an entry's heading is explained by that entry, and that an entry
// says what the message means and what to do.
func TestExplain(t *testing.T) {
	text, ok := Page("when-it-breaks")
	if !ok {
		t.Fatal("no page when-it-breaks")
	}
	known := map[string]bool{}
	for _, e := range explanations {
		known[e.anchor] = true
		section, ok := Section(text, e.anchor)
		if !ok {
			t.Errorf("%s: no entry", e.anchor)
			continue
		}
		heading, body, _ := strings.Cut(section, "\n")
		example := strings.Trim(strings.TrimLeft(heading, "# "), "`")
		code := 0
		if m := codeOf.FindStringSubmatch(body); m != nil {
			code, _ = strconv.Atoi(m[1])
		}
		if got := Explain(example, code); got != e.anchor {
			t.Errorf("%s: its example %q is explained by %q", e.anchor, example, got)
		}
		if !strings.Contains(body, "**Meaning.** ") || !strings.Contains(body, "\n1. ") || strings.Contains(body, "<a id=") {
			t.Errorf("%s: the entry is %q, want a meaning, and what to do", e.anchor, body)
		}
	}
	for _, m := range regexp.MustCompile(`<a id="([^"]*)">`).FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			t.Errorf("no message leads to the entry %s", m[1])
		}
	}
	for _, m := range []struct {
		message string
		code    int
		anchor  string
	}{
		{"rank 3 has something new", 64, ""},
		{"mkdir /tmp/ringtrain-7: read-only file system; mkdir /dev/shm/ringtrain-7: no such file or directory: set RINGTRAIN_TOKEN_FILE", 73, "runtime-folder"},
		{"host b: /dev/shm/ringtrain-7 belongs to uid 8, want 7", 77, "runtime-folder"},
		{"127.0.0.1:29400 has another token (77e1d0aa, here 3f2a91c0): set RINGTRAIN_TOKEN_FILE to one file for both", 77, "token"},
		{"/run/secrets/token is no regular file, want one", 77, "token"},
		{"link 1 -> 2 at 10.0.0.2:2222: nothing moved for 10 s, both ends are alive", 138, "timed-out"},
		{"ringtrain: not found on host host-b, neither at /opt/ringtrain nor in the PATH that ssh gives there: install it there, or give --push", 127, "host-unreachable"},
		{"link 1 <- 0 at 10.0.0.1:2222: protocol version is 3, want 4", 76, "versions"},
		{"link 1 -> 2 at 10.0.0.2:2222: ring: corrupt frame: magic is 7", 76, "corrupt-frame"},
		{"link 1 <- 0 at 10.0.0.1:2222: no link after 3 attempts, the last: connection refused (gave up after 10s)", 138, "no-link"},
		{"input.train: input: /dev/fd/63 is a pipe or a device, want a regular file", 66, "missing-file"},
		{`input: day.csv is text whose lines end with \r alone: end the lines with \n, as tr '\r' '\n' does`, 65, "other-kind"},
		{"input: day.csv.gz: 8 bytes behind the end of gzip", 65, "other-kind"},
		{"input: /data/exports/day.csv: input/output error", 74, "read-error"},
		{"tfrecord: day.tfrecords: record 5 at byte 812: read day.tfrecords: input/output error", 74, "read-error"},
		{"checkpoint ckpt/step-000400: write ckpt/model.data: input/output error", 74, "no-space"},
		{"the last state is not saved: sync ckpt/model.data: input/output error", 74, "no-space"},
		{"export export/mnist/1: close variables: input/output error", 74, "no-space"},
		{`csv: bad1.csv:5001: record 4999 at byte 198259: column age is "thirty", want a number`, 65, "bad-record"},
		{"csv: day.csv:2: record 0 at byte 18: column clicked label is 3, want 0 or 1", 65, "bad-record"},
		{"csv: day.csv:2: record 0 at byte 18: field 5: 'B' behind the quote at its end, want the separator ',': a quote may not be closed", 65, "bad-record"},
		{`csv: day.csv:1: record 0 at byte 0: column age is "age", want a number; the line has names of columns, want header: true`, 65, "column"},
		{"input.train: column income has no number in the training records, want one or more to learn from", 65, "column"},
		{"csv: day.csv: no column amuont, which input.columns names (did you mean amount?); the header has [\"amount\"]", 65, "column"},
		{"which column is to be predicted? want --label COLUMN, one of a, b", 64, "label"},
		{"the label y is 0 in each record, want two classes or more, or numbers", 65, "classes"},
		{"day.csv has a header and no record", 65, "bad-file"},
		{"--label why: no such column; the columns are x, y", 64, "label"},
		{"the data frame has a MultiIndex, want columns of one level", 65, "data-frame"},
		{"1 of 5 records have no prediction: ignored 1 bad record", 65, "data-frame"},
		{"-np is 5000, want at most 4096", 64, "option"},
		{"something is 3, want 4", 65, ""},
	} {
		if got := Explain(m.message, m.code); got != m.anchor {
			t.Errorf("%q with code %d is explained by %q, want %q", m.message, m.code, got, m.anchor)
		}
	}
}
