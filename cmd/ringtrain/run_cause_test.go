package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
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
			e := newBox(t).must(tt.code, "run", "--verbose", "-np", "4", "--json", "sh", "-c", tt.script)
			cause := strings.TrimSpace(e.last())
			if !strings.HasPrefix(cause, "ringtrain: "+tt.want) {
				t.Errorf("last line %q, want %q", cause, tt.want)
			}
			for _, rank := range tt.speaks {
				if !slices.Contains(linesOf(e.stderr, rank), cause) {
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
		{"refused=token", "test $RANK = 1 && export RINGTRAIN_TOKEN=" + strings.Repeat("cd", 32) + " && exec " + train + " --start-timeout 1s; exec " + train, 77, "; gave up after 1s: set RINGTRAIN_TOKEN_FILE to one file for both, or give this job another port"},
		{"refused=job", "test $RANK = 1 && exec " + train + " --job-id other; exec " + train, 138, "the rendezvous answers for job mine, not other"},
		{"refused=job, in a script", "test $RANK = 1 && { " + train + " --job-id other; exit $?; }; exec " + train, 138, "the rendezvous answers for job mine, not other"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newBox(t).must(tt.code, "run", "--verbose", "-np", "3", "--job-id", "mine", "--json", "sh", "-c", tt.script)
			want := fmt.Sprintf(`^ringtrain: rank 1 \(pid (\d+)\) ended with exit code %d: (.*%s)$`, tt.code, regexp.QuoteMeta(tt.want))
			last := regexp.MustCompile(want).FindStringSubmatch(strings.TrimSpace(e.last()))
			if last == nil {
				t.Fatalf("last line %q, want %q", e.last(), want)
			}
			cause := fmt.Sprintf("process %s ended with exit code %d: %s", last[1], tt.code, last[2])
			for _, rank := range []int{0, 2} {
				if want := "ringtrain: rank 1: " + cause; !slices.Contains(linesOf(e.stderr, rank), want) {
					t.Errorf("rank %d does not say %q:\n%s", rank, want, e.stderr)
				}
			}
			if v := e.only(t, "error"); v.num("rank") != 1 || v.num("exit_code") != float64(tt.code) || v.text("cause") != cause {
				t.Errorf("event %v, want rank 1, code %d and %q", v, tt.code, cause)
			}
		})
	}
}

// TestRunLastLine verifies that the launcher ends with the cause and names its entry of the manual,
// behind the cause of the ranks, which is one line in a file: whether the job has one rank or more, and
// whether the program is a job or train, before the ranks have met and after.
func TestRunLastLine(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []struct {
		name, job, entry, want string
		code                   int
	}{
		{"file", "mnist --data nowhere", "#missing-file", "nowhere/mnist/train-images", 66},
		{"folder", "linear --set checkpoint.dir=/dev/null/x", "#", "/dev/null is a file", 73},
	} {
		for _, np := range []string{"1", "2"} {
			for _, before := range []string{"", self + " train "} {
				t.Run(fmt.Sprintf("fault=%s/np=%s/program=%t", fault.name, np, before != ""), func(t *testing.T) {
					t.Parallel()
					args := append([]string{"run", "-np", np}, strings.Fields(before+fault.job)...)
					e := newBox(t).must(fault.code, args...)
					lines := strings.Split(strings.TrimSpace(e.stderr), "\n")
					n := len(lines)
					if n < 3 || !strings.HasPrefix(lines[n-1], "ringtrain: rank ") || !strings.Contains(lines[n-1], fault.want) ||
						!strings.Contains(lines[n-2], "what to do: ") || !strings.Contains(lines[n-2], fault.entry) {
						t.Errorf("it ends with %q, want the cause, what to do and the cause of %s", lines, fault.want)
					}
					causes := 0
					for _, l := range lines[:n-2] {
						if strings.HasSuffix(l, lines[n-1]) {
							causes++
						}
					}
					if causes != 1 {
						t.Errorf("the cause of the ranks has %d lines, want 1: %q", causes, lines)
					}
				})
			}
		}
	}
}

// TestRunPrintsOptionsOnce verifies that run prints the job file of all ranks once, as train does.
func TestRunPrintsOptionsOnce(t *testing.T) {
	b := newBox(t)
	options := []string{"linear", "--set", "train.steps=5", "--print-options"}
	alone := b.must(0, append([]string{"train"}, options...)...)
	if e := b.must(0, append([]string{"run", "-np", "3"}, options...)...); e.stdout != alone.stdout {
		t.Errorf("it prints %q, want %q", e.stdout, alone.stdout)
	}
}

// TestRunUnderLauncher verifies that run says so if a launcher has started it beside others, each of
// which starts a job of its own.
func TestRunUnderLauncher(t *testing.T) {
	for env, want := range map[string]bool{"FLUX_TASK_RANK=1 FLUX_JOB_SIZE=2": true, "FOO_RANK=1 FOO_SIZE=2": true, "FLUX_TASK_RANK=0 FLUX_JOB_SIZE=1": false, "": false} {
		e := newBox(t).with(strings.Fields(env)...).must(0, "run", "-np", "1", "true")
		if got := strings.Contains(e.stderr, " says rank 1 of 2: each of these processes starts a job of its own"); got != want {
			t.Errorf("set=%s: it says %q, want a notice: %v", env, e.stderr, want)
		}
	}
}
