package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestRunTellsCause verifies that the last line of the launcher and of the ranks names
// the failed or missing rank and the cause.
func TestRunTellsCause(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	train := self + " train linear --set train.steps=5 --set export.if=always"
	tests := []struct {
		name, script string
		code, rank   int
		want         string
		speaks       []int
	}{
		{"fault=output", "exec " + train + " --set checkpoint.dir=/dev/null/x", 73, 0, "rank 0 on ", []int{0, 1, 2, 3}},
		{"fault=flag of one rank", "test $RANK = 1 && exec " + train + " --bogus; exec " + train, 64, 1, "rank 1 on ", []int{0, 1, 2, 3}},
		{"fault=no job for one rank", "test $RANK = 1 && exec " + self + " train; exec " + train, 64, 1, "rank 1 on ", []int{0, 1, 2, 3}},
		{"fault=option of one rank", "test $RANK = 1 && exec " + train + " --set none=1; exec " + train, 64, 1, "rank 1 on ", []int{0, 1, 2, 3}},
		{
			"fault=missing, and ranks wait less long than the launcher",
			"case $RANK in 1|3) exec sleep 1000;; esac; exec " + train + " --start-timeout 3s", 138, -1, "ranks 1 (no word yet), 3 (no word yet) missing after 3s; want 4 workers", []int{0, 2},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newBox(t).must(tt.code, "run", "-np", "4", "--json", "sh", "-c", tt.script)
			cause := strings.TrimSpace(e.last())
			if !strings.HasPrefix(cause, "ringtrain: "+tt.want) {
				t.Errorf("last line %q, want %q", cause, tt.want)
			}
			for _, rank := range tt.speaks {
				if want := fmt.Sprintf("[%d] %s\n", rank, cause); !strings.Contains(e.stderr, want) {
					t.Errorf("rank %d does not say %q:\n%s", rank, cause, e.stderr)
				}
			}
			if v := e.only(t, "error"); v.num("rank") != float64(tt.rank) || v.num("exit_code") != float64(tt.code) || !strings.Contains(cause, v.text("cause")) {
				t.Errorf("event %v, want rank %d with code %d and the cause of %q", v, tt.rank, tt.code, cause)
			}
		})
	}
}

// TestRunTellsRefusal verifies that the refusal of rank 1 alone by the rendezvous
// reaches the other ranks and the launcher's last line.
func TestRunTellsRefusal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	train := self + " train linear --set train.steps=5 --set export.if=always"
	tests := []struct {
		name, script string
		code         int
		want         string
	}{
		{"refused=token", "test $RANK = 1 && export RINGTRAIN_TOKEN=" + strings.Repeat("cd", 32) + " && exec " + train + " --start-timeout 1s; exec " + train, 77, "not the token of the rendezvous"},
		{"refused=job", "test $RANK = 1 && exec " + train + " --job-id other; exec " + train, 138, "the rendezvous answers for job mine, not other"},
		{"refused=job, in a script", "test $RANK = 1 && { " + train + " --job-id other; exit $?; }; exec " + train, 138, "the rendezvous answers for job mine, not other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newBox(t).must(tt.code, "run", "-np", "3", "--job-id", "mine", "--json", "sh", "-c", tt.script)
			want := fmt.Sprintf(`^ringtrain: rank 1 \(pid (\d+)\) ended with exit code %d: %s$`, tt.code, tt.want)
			last := regexp.MustCompile(want).FindStringSubmatch(strings.TrimSpace(e.last()))
			if last == nil {
				t.Fatalf("last line %q, want %q", e.last(), want)
			}
			cause := fmt.Sprintf("process %s ended with exit code %d: %s", last[1], tt.code, tt.want)
			for _, rank := range []int{0, 2} {
				if want := fmt.Sprintf("[%d] ringtrain: rank 1: %s\n", rank, cause); !strings.Contains(e.stderr, want) {
					t.Errorf("rank %d does not say %q:\n%s", rank, want, e.stderr)
				}
			}
			if v := e.only(t, "error"); v.num("rank") != 1 || v.num("exit_code") != float64(tt.code) || v.text("cause") != cause {
				t.Errorf("event %v, want rank 1, code %d and %q", v, tt.code, cause)
			}
		})
	}
}
