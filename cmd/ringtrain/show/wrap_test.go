package show

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWrap verifies where a line is split, how its parts are indented, and what stays whole.
func TestWrap(t *testing.T) {
	tests := []struct {
		name    string
		columns int
		line    string
		want    []string
	}{
		{"short", 20, "[0] a line", []string{"[0] a line"}},
		{"sentence", 20, "[0] a line of seven short words", []string{"[0] a line of seven", "  short words"}},
		{"indent", 20, "  a line of seven short words", []string{"  a line of seven", "    short words"}},
		{"row", 40, "0  host-a  rank 3 in reduce 15 of 7850 elements", []string{"0  host-a  rank 3 in reduce 15 of 7850", "           elements"}},
		{"narrow cell", 26, "0  host-a  rank 3 in reduce 15", []string{"0  host-a  rank 3 in", "  reduce 15"}},
		{"empty last cell", 20, "active  18000  2        ", []string{"active  18000  2"}},
		{"path", 20, "no file /a/very/long/path/of/a/file here", []string{"no file", "  /a/very/long/path/of/a/file", "  here"}},
		{"command", 30, "to go on: ringtrain run -np 4 mnist, or stop", []string{"to go on:", "  ringtrain run -np 4 mnist,", "  or stop"}},
		{"command at the end", 30, "next  ./bin/ringtrain predict mnist --from export/mnist FILE", []string{"next  ./bin/ringtrain predict mnist --from export/mnist FILE"}},
		{"quotation", 30, "get them with \"ringtrain data fetch mnist\", or wait", []string{"get them with", "  \"ringtrain data fetch mnist\",", "  or wait"}},
		{"apostrophe", 20, "it's the ranks' 'other way out", []string{"it's the ranks'", "  'other way out"}},
		{"other characters", 5, "東京 東京 東京", []string{"東京 東京", "  東京"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(Wrap(tt.line, tt.columns, wrapIndent), "\n"); got != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestWrapLosesNothing verifies for any text and width that the parts have all words in order, and that a part is
// wider than asked for only if it is one unit, or if a part of its own would be as wide.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching("[a-z\"'`,.: 東]{0,60}").Draw(t, "line")
		columns := rapid.IntRange(1, 40).Draw(t, "columns")
		parts := Wrap(line, columns, wrapIndent)
		if got, want := strings.Fields(strings.Join(parts, " ")), strings.Fields(line); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("words %q, want %q", got, want)
		}
		for _, part := range parts {
			text := strings.TrimSpace(part)
			last := text[wholeUnit(text):]
			if Width(part) > columns && last != "" && Width(part)-Width(strings.TrimLeft(last, " ")) > hanging(line, columns, wrapIndent) {
				t.Fatalf("%q takes %d columns, want %d", part, Width(part), columns)
			}
		}
	})
}
