package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/ring/exitcode"
)

// keyLimits makes a process of a box act as ringtrain with other limits of a link's key: "RENEW END", in bytes.
const keyLimits = "TEST_KEY_LIMITS"

// mainWithKeys is main with these limits.
func mainWithKeys(limits string) int {
	a := &app{ctx: context.Background(), out: show.NewReporter(os.Stdout, os.Stderr), stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), getenv: os.Getenv}
	if _, err := fmt.Sscan(limits, &a.keys.Renew, &a.keys.End); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitcode.Usage
	}
	return exitcode.Of(a.dispatch(os.Args[1:]))
}

// keyJob is a job of two ranks on hosts of their own. A step sends 32 kB.
func keyJob(steps int) []string {
	return []string{
		"train", "mnist", "--json", "--set", "input.synthetic=true", "--set", "train.steps=" + strconv.Itoa(steps), "--set", "log.every=10",
		"--set", "allreduce.codec=none", "--set", "export.savedmodel=", "--start-timeout", "2s",
	}
}

// startKeyJob starts the ranks of a job and the rendezvous for them. The job has no restart.
func startKeyJob(b *box, job []string, limits string) (meeting *testProcess, ranks []*testProcess) {
	b.Helper()
	at := "127.0.0.1:" + strconv.Itoa(freePorts(b.T, 1)[0])
	meeting = b.start("rendezvous", "--listen", at, "--world-size", "2", "--start-timeout", "30s")
	meeting.await("rendezvous on " + at)
	ranks = b.startRanks(2, job, func(rank int) []string {
		return []string{"RINGTRAIN_WORLD_SIZE=2", "RINGTRAIN_RENDEZVOUS=" + at, fmt.Sprintf("RINGTRAIN_RANK=%d", rank), fmt.Sprintf("RINGTRAIN_HOST_ID=host%d", rank), limits}
	})
	return meeting, ranks
}

// TestNewKeys lowers the limit of a link's key for real processes. It verifies that they regroup five times, with
// one line each, without a loss and without a restart, and end with the digest of a job whose links have no keys.
func TestNewKeys(t *testing.T) {
	var last []string
	for security, regroups := range map[string]int{"auth": 0, "tls": 5} {
		meeting, ranks := startKeyJob(newBox(t), append(keyJob(60), "--security", security), keyLimits+"=300000 900000")
		for rank, p := range ranks {
			e := p.wait()
			if e.code != 0 || strings.Contains(e.stderr, "generation 1 has ended") {
				t.Errorf("rank %d ended with %d\n%s", rank, e.code, e.stderr)
			}
			want := regroups
			if rank != 0 {
				want = 0
			}
			ends := e.ofKind(t, "generation")
			if lines := strings.Count(e.stderr, "0.0 GiB under one key"); len(ends) != want || lines != want {
				t.Errorf("rank %d tells %d new generations in %d lines, want %d\n%s", rank, len(ends), lines, want, e.stderr)
			}
			for _, g := range ends {
				if lost := fmt.Sprint(g["lost"]); lost != "[]" || g.num("steps_repeated") != 0 {
					t.Errorf("generation %v, want nobody lost and no step repeated", g)
				}
			}
			last = append(last, e.last())
		}
		if e := meeting.wait(); e.code != 0 {
			t.Errorf("the rendezvous ended with %d\n%s", e.code, e.stderr)
		}
	}
	slices.Sort(last)
	if last[0] != last[3] || !strings.HasPrefix(last[0], "digest=") {
		t.Errorf("the ranks end with %q, want one digest", last)
	}
}

// TestOldKeys kills the rendezvous of a job whose links reach the limits of their keys. It verifies that the job
// trains on to the second limit, and that then rank 0 saves and both ranks end with 138 and the reason.
func TestOldKeys(t *testing.T) {
	meeting, ranks := startKeyJob(newBox(t), keyJob(forever), keyLimits+"=30000000 40000000")
	ranks[0].await(`"event":"step"`)
	meeting.signal(os.Kill)
	for rank, p := range ranks {
		e := p.wait()
		reason := "has sent 0.0 GiB under one key, and rank 0 does not reach the rendezvous for new ones"
		if e.code != 138 || !strings.Contains(e.last(), ": lost the rendezvous at ") || !strings.Contains(e.last(), reason) {
			t.Errorf("rank %d ended with %d and %q, want 138 and %q", rank, e.code, e.last(), reason)
		}
		if rank != 0 {
			continue
		}
		saved := e.only(t, "checkpoint").num("step")
		if at := e.only(t, "error").num("step"); saved != at || saved < 1000 || len(e.ofKind(t, "generation")) > 0 {
			t.Errorf("saves after step %v, and ends after step %v, want one step behind the second limit\n%s", saved, at, e.stderr)
		}
	}
}
