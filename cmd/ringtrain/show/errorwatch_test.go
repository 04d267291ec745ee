package show

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"ringtrain/ring/launch"
)

// TestErrorWatch verifies that all lines are forwarded in order, and that an error event
// that is only a symptom is dropped.
func TestErrorWatch(t *testing.T) {
	const start = `{"event":"start"}` + "\n"
	const step, theirs = `{"event":"step"}` + "\n", `{"event":"error","rank":0}` + "\n"
	coded := func(rank, code int) string {
		return fmt.Sprintf(`{"event":"error","rank":%d,"more":1,"exit_code":%d}`+"\n", rank, code)
	}
	fault, failed := errors.New("no such host"), launch.Result{Code: 65, Text: "rank 0 …"}
	tests := []struct {
		name   string
		writes []string
		res    launch.Result
		err    error
		out    string
		seen   bool
	}{
		{"rank 0 failed", []string{step, theirs}, failed, nil, step + theirs, true},
		{"rank 0 failed, in one write", []string{step + theirs}, failed, nil, step + theirs, true},
		{"rank 0 is gone", []string{step}, failed, nil, step, false},
		{"rank 0 was started again", []string{theirs, step}, failed, nil, theirs + step, true},
		{"rank 0 was started again, and is gone", []string{start, step, theirs, start + step, step}, failed, nil, start + step + theirs + start + step + step, false},
		{"rank 0 was started again, in vain", []string{step, coded(0, 138), theirs}, failed, nil, step + theirs, true},
		{"the launcher failed first", []string{step, theirs}, launch.Result{Rank: -1}, fault, step, false},
		{"the launcher failed later", []string{step, theirs}, failed, fault, step + theirs, true},
		{"rank 0 was told another code", []string{step, coded(2, 138)}, launch.Result{Code: 137, Rank: 2, Text: "rank 2 was killed"}, nil, step + coded(2, 137), true},
		{"rank 0 knew another cause", []string{step, coded(1, 138)}, launch.Result{Code: 137, Rank: 2, Text: "rank 2 was killed"}, nil, step + coded(1, 138), true},
		{"rank 0 was told to end after a failure", []string{step, coded(0, 143)}, launch.Result{Code: 137, Rank: 2, Text: "rank 2 was killed"}, nil, step, false},
		{"rank 0 was told to end when time was up", []string{step + coded(-1, 143)}, launch.Result{Code: 110, Rank: -1, Text: "not done"}, nil, step, false},
		{"all were told to end", []string{step, coded(-1, 143)}, launch.Result{Code: 143, Rank: -1, Text: "stopped"}, nil, step + coded(-1, 143), true},
		{"nobody reads", []string{step, theirs}, launch.Result{Code: 65, Unread: true}, nil, step, true},
	}
	for _, tt := range tests {
		t.Run("end="+tt.name, func(t *testing.T) {
			var out bytes.Buffer
			w := ErrorWatch{Out: &out, JSON: true}
			for _, text := range tt.writes {
				if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
					t.Errorf("wrote %d of %d bytes, %v", n, len(text), err)
				}
			}
			w.finish(tt.res, tt.err)
			if out.String() != tt.out || w.Seen != tt.seen {
				t.Errorf("standard output is %q, seen %t; want %q, %t", &out, w.Seen, tt.out, tt.seen)
			}
		})
	}
}
