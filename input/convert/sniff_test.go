package convert_test

import (
	"strings"
	"testing"

	"ringtrain/input/convert"
)

// TestSniff verifies that the content tells the format.
func TestSniff(t *testing.T) {
	for content, want := range map[string]string{
		"1 3:1 5:0.5\n-1 4:1\n": "libsvm", "1 0:3:1 1:5:0.5\n": "libffm", "1 |a b c:2\n-1 'tag|a d\n": "csv", "1 |a b c:2\n-1 0.5 |a d\n": "vw",
		"0\t" + strings.Repeat("1\t", 13) + strings.Repeat("68fd1e64\t", 25) + "\n": "criteo", "a,b\n1,2\n": "csv", "\x00\x00\x08\x03\x00": "idx",
	} {
		if got := convert.Sniff([]byte(content)).Name; got != want {
			t.Errorf("%q is %s, want %s", content, got, want)
		}
	}
}
