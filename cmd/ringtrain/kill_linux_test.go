package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endless is a job that does not end by itself.
func endless(more ...string) []string {
	return append([]string{
		"mnist", "--set", "input.synthetic=true", "--set", "train.steps=100000000", "--set", "log.every=10",
	}, more...)
}

// TestKilledRank verifies that the others name a rank killed by -9, and end.
func TestKilledRank(t *testing.T) {
	for victim := range 4 {
		if victim != 0 && short(t) {
			continue
		}
		t.Run(fmt.Sprintf("rank=%d", victim), func(t *testing.T) {
			b := newBox(t)
			p := b.start(append([]string{"run", "--verbose", "-np", "4"}, endless("--link", "tcp")...)...)
			p.await("step 20 ")
			at := time.Now()
			kill(t, b.rankPID(victim), syscall.SIGKILL)
			e := p.wait()
			within(t, "the end of all", 2*time.Second, 10*time.Second, time.Since(at))
			if e.code != 137 || !namesRank(e.last(), victim) {
				t.Errorf("the launcher ended with %d and %q, want 137 and rank %d named", e.code, e.last(), victim)
			}
			for rank := range 4 {
				if rank != victim && !namesRank(e.lastLine(rank), victim) {
					t.Errorf("rank %d ends with %q, want rank %d named", rank, e.lastLine(rank), victim)
				}
			}
			b.nothingLeft(5*time.Second, nil)
		})
	}
}

// TestKilledRankCodes verifies that the survivors of four ranks without a launcher end
// with 138.
func TestKilledRankCodes(t *testing.T) {
	for _, victim := range []int{0, 2} {
		t.Run(fmt.Sprintf("rank=%d", victim), func(t *testing.T) {
			b := newBox(t)
			port := freePorts(t, 1)[0]
			ranks := b.startRanks(4, append([]string{"train"}, endless()...), func(rank int) []string { return rankVariables(rank, 4, port) })
			ranks[0].await("step 20 ")
			ranks[victim].signal(syscall.SIGKILL)
			for rank, p := range ranks {
				e := p.wait()
				if rank != victim && (e.code != 138 || !namesRank(e.last(), victim)) {
					t.Errorf("rank %d ended with %d and %q, want 138 and rank %d named", rank, e.code, e.last(), victim)
				}
			}
		})
	}
}

// TestKilledRankEvent verifies the error event of a killed rank with the launcher's exit
// code.
func TestKilledRankEvent(t *testing.T) {
	for _, victim := range []int{0, 1} {
		t.Run(fmt.Sprintf("rank=%d", victim), func(t *testing.T) {
			b := newBox(t)
			p := b.start(append([]string{"run", "-np", "2", "--json"}, endless()...)...)
			p.await(`"event":"step"`)
			kill(t, b.rankPID(victim), syscall.SIGKILL)
			e := p.wait()
			v := e.only(t, "error")
			checkFields(t, v)
			if e.code != 137 || v.num("exit_code") != 137 || v.num("rank") != float64(victim) || v.text("cause") == "" {
				t.Errorf("code %d and %v, want 137 and an error event of rank %d", e.code, v, victim)
			}
			steps := e.ofKind(t, "step") // rank 0 may be killed amid its last words of a step that the other has not finished
			if last := steps[len(steps)-1].num("step"); v.num("step") < last-1 {
				t.Errorf("rank %d was lost at step %v, after step %v was told", victim, v.num("step"), last)
			}
		})
	}
}

// TestKilledLauncher verifies that the ranks of a launcher killed by -9 end, and that rank 0 has saved
// the state, though nobody reads what it prints.
func TestKilledLauncher(t *testing.T) {
	b := newBox(t)
	p := b.start(append([]string{"run", "-np", "4"}, endless("--set", "checkpoint.dir=ckpt")...)...)
	p.await("step 20 ")
	children := childrenOf(p.cmd.Process.Pid)
	if len(children) != 5 {
		t.Fatalf("the launcher has %d children, want 4 ranks and the guard", len(children))
	}
	p.signal(syscall.SIGKILL)
	p.wait()
	b.nothingLeft(10*time.Second, children)
	if saved, err := filepath.Glob(b.path("ckpt", "step-*")); len(saved) != 1 {
		t.Errorf("checkpoints are %q, %v, want one", saved, err)
	}
}

// TestKilledPush verifies that ssh ends if the launcher is killed by -9 during the copy
// of its program to a host.
func TestKilledPush(t *testing.T) {
	b := newBox(t)
	b.write("ssh", `for line; do :; done; case $line in *" agent"*) exit 127; esac; echo >copies; exec sleep 1000`)
	p := b.start("run", "-np", "1", "-H", "other:1", "--push", "--ssh", "sh "+b.path("ssh"), "linear")
	eventually(t, 20*time.Second, "ssh copies", func() bool { return slices.Contains(b.files(), "copies") })
	children := childrenOf(p.cmd.Process.Pid)
	p.signal(syscall.SIGKILL)
	p.wait()
	b.nothingLeft(10*time.Second, children)
}

// TestSignals verifies the end of a launcher by each signal: the state is saved, and the
// code distinguishes a stop from a fault.
func TestSignals(t *testing.T) {
	tests := []struct {
		signal syscall.Signal
		code   int
	}{
		{syscall.SIGTERM, 143},
		{syscall.SIGINT, 130},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("signal=%v", tt.signal), func(t *testing.T) {
			b := newBox(t)
			p := b.start(on(four(t), endless("--json"))...)
			p.await(`"event":"step"`)
			p.signal(tt.signal)
			e := p.wait()
			if e.code != tt.code {
				t.Fatalf("code %d, want %d\n%s", e.code, tt.code, e.stderr)
			}
			path := e.only(t, "checkpoint").text("path")
			b.must(0, "inspect", path)
			if strings.Contains(e.stdout, `"event":"done"`) || strings.Contains(e.stdout, `"event":"export"`) {
				t.Errorf("a stopped run says that it is done:\n%s", e.stdout)
			}
			for rank := range four(t) {
				if got := e.lastLine(rank); got != e.lastLine(0) || !strings.HasPrefix(got, "digest=") {
					t.Errorf("rank %d ends with %q, want the same digest on all", rank, got)
				}
			}
			b.nothingLeft(5*time.Second, nil)
		})
	}
}

// TestSignalTwiceToLauncher sends a signal twice at once, as timeout(1) and a shell at
// the end of its terminal do. It verifies that the ranks still save their state.
func TestSignalTwiceToLauncher(t *testing.T) {
	heard := make(chan os.Signal, 1) // under nohup the launcher ignores it
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(fmt.Sprintf("signal=%v", s), func(t *testing.T) {
			p := newBox(t).start(append([]string{"run", "-np", "2", "--json"}, endless()...)...)
			p.await(`"event":"step"`)
			p.signal(s)
			pause(2 * time.Millisecond) // otherwise the two signals may merge
			p.signal(s)
			e := p.wait()
			if e.code != 143 || !strings.HasPrefix(e.lastLine(1), "digest=") {
				t.Errorf("code %d, and rank 1 ends with %q, want 143 and the digest", e.code, e.lastLine(1))
			}
			e.only(t, "checkpoint")
		})
	}
}

// TestNohup verifies that a launcher that ignores SIGHUP keeps its job running.
func TestNohup(t *testing.T) {
	b := newBox(t)
	p := b.startProgram("sh", append([]string{"-c", `trap "" HUP; exec "$0" "$@"`, self(b), "run", "-np", "2"}, endless()...)...)
	p.await("step 20 ")
	p.signal(syscall.SIGHUP)
	before := strings.Count(p.stdout.String(), "step ")
	eventually(t, 20*time.Second, "training goes on", func() bool { return strings.Count(p.stdout.String(), "step ") > before+10 })
	p.signal(syscall.SIGTERM)
	if e := p.wait(); e.code != 143 {
		t.Errorf("code %d, want 143\n%s", e.code, e.stderr)
	}
}

// TestSignalToOneRank verifies that ranks stopped one by one agree on a step, save and
// end.
func TestSignalToOneRank(t *testing.T) {
	b := newBox(t)
	port := freePorts(t, 1)[0]
	ranks := b.startRanks(3, append([]string{"train"}, endless()...), func(rank int) []string { return rankVariables(rank, 3, port) })
	ranks[0].await("step 20 ")
	ranks[2].signal(syscall.SIGTERM)
	for rank, p := range ranks {
		if e := p.wait(); e.code != 143 || !strings.HasPrefix(e.last(), "digest=") {
			t.Errorf("rank %d ended with %d and %q, want 143 and the digest", rank, e.code, e.last())
		}
	}
}

// TestSecondSignal verifies that a second signal to the launcher ends the job at once.
func TestSecondSignal(t *testing.T) {
	b := newBox(t)
	// A program that ignores the first signal.
	p := b.start("run", "-np", "2", "--grace", "1h", "sh", "-c", "trap 'echo caught' TERM; echo ready $RINGTRAIN_RANK; while :; do sleep 1; done")
	p.await("ready 0")
	p.await("ready 1")
	p.signal(syscall.SIGTERM)
	p.await("caught")
	pause(duplicateSignalTime)
	at := time.Now()
	p.signal(syscall.SIGTERM)
	e := p.wait()
	within(t, "the end of all", 0, 10*time.Second, time.Since(at))
	if e.code != 143 {
		t.Errorf("ended with %d, want 143", e.code)
	}
	b.nothingLeft(5*time.Second, nil)
}

// TestSecondSignalToRank verifies that a second signal ends a rank that waits for
// another one.
func TestSecondSignalToRank(t *testing.T) {
	b := newBox(t)
	port := freePorts(t, 1)[0]
	ranks := b.startRanks(2, append([]string{"train", "--lease", "1h"}, endless()...), func(rank int) []string { return rankVariables(rank, 2, port) })
	ranks[0].await("step 20 ")
	ranks[1].signal(syscall.SIGSTOP)
	eventually(t, 20*time.Second, "rank 0 ends", func() bool {
		ranks[0].signal(syscall.SIGTERM)
		return gone(ranks[0].cmd.Process.Pid)
	})
	if e := ranks[0].wait(); e.code != 143 || strings.HasPrefix(e.last(), "digest=") {
		t.Errorf("ended with %d and %q, want 143 and no digest", e.code, e.last())
	}
	ranks[1].signal(syscall.SIGKILL)
	ranks[1].wait()
}

// TestSignalBeforeTraining verifies that a signal ends ranks that wait for others.
func TestSignalBeforeTraining(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	port := freePorts(t, 1)[0]
	p := b.with(rankVariables(0, 2, port)...).start("train", "linear")
	p.await("waiting")
	p.signal(syscall.SIGTERM)
	if e := p.wait(); e.code != 143 {
		t.Errorf("code %d, want 143\n%s", e.code, e.stderr)
	}
}
