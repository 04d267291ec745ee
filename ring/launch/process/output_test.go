package process

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestPrefixer verifies that lines come whole and with their prefix, and that a line
// without an end is held only up to maxLineBytes.
func TestPrefixer(t *testing.T) {
	long := strings.Repeat("x", maxLineBytes)
	tests := []struct {
		name, prefix string
		chunks       []string
		want         string
	}{
		{"chunks=none", "[1] ", nil, ""},
		{"lines=in pieces", "[1] ", []string{"a", "b\nc", "\n\nd"}, "[1] ab\n[1] c\n[1] \n[1] d\n"},
		{"lines=without prefix", "", []string{"a\nb", "c"}, "a\nbc\n"},
		{"end=newline", "[1] ", []string{"a\n"}, "[1] a\n"},
		{"length=most", "[1] ", []string{long, "\n"}, "[1] " + long + "\n"},
		{"length=too much", "[1] ", []string{long, "yz\nb"}, "[1] " + long + "yz\n[1] b\n"},
		{"length=too much without end", "[1] ", []string{long, "y", long}, "[1] " + long + lineContinues + "\n[1] y" + long[1:] + lineContinues + "\n[1] x\n"},
		{"length=too much without prefix", "", []string{long, "y", "z\n"}, long + "yz\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Prefixer{Prefix: tt.prefix}
			var got []byte
			for _, c := range tt.chunks {
				got = l.Append(got, []byte(c))
				if len(l.partial) > maxLineBytes {
					t.Errorf("%d bytes are held, want at most %d", len(l.partial), maxLineBytes)
				}
			}
			if got = l.Finish(got); string(got) != tt.want {
				t.Errorf("%d bytes, want %d: %.80q, want %.80q", len(got), len(tt.want), got, tt.want)
			}
		})
	}
}

// TestPipeReaderOfDaemon verifies that the last lines of a rank arrive though a daemon
// keeps its output open.
func TestPipeReaderOfDaemon(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // stays open: the daemon
	w.WriteString("last\nwords")
	r.SetReadDeadline(aLongTimeAgo)
	var got []byte
	ends := 0
	pipeReader{r}.readAll(func(chunk []byte) {
		got = append(got, chunk...)
		if len(chunk) == 0 {
			ends++
		}
	})
	if want := "last\nwords"; string(got) != want || ends != 1 {
		t.Errorf("got %q with %d ends, want %q with one", got, ends, want)
	}
}

var aLongTimeAgo = time.Unix(1, 0)
