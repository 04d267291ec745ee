package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inMemory is a job that spends its time in all-reduces through shared memory and does
// not end by itself.
func inMemory() []string {
	return endless("--set", "model.kind=mlp", "--set", "model.hidden=[256]", "--set", "input.batch=8",
		"--set", "checkpoint.dir=", "--set", "export.savedmodel=")
}

// startCrowd starts n ranks of inMemory, by `run` or without a launcher, and returns
// after training has begun.
func startCrowd(t *testing.T, n int, launched bool) *crowd {
	t.Helper()
	c := &crowd{box: newBox(t)}
	if launched {
		c.runner = c.start(append([]string{"run", "--verbose", "-np", strconv.Itoa(n)}, inMemory()...)...)
		c.runner.await("step 10 ")
		for rank := range n {
			c.pids = append(c.pids, c.rankPID(rank))
		}
	} else {
		port := freePorts(t, 1)[0]
		c.ranks = c.startRanks(n, append([]string{"train"}, inMemory()...), func(rank int) []string { return rankVariables(rank, n, port) })
		c.ranks[0].await("step 10 ")
		for _, p := range c.ranks {
			c.pids = append(c.pids, p.cmd.Process.Pid)
		}
	}
	for rank, pid := range c.pids {
		if !mapsOurMemory(pid) {
			t.Fatalf("rank %d has no shared memory: nothing is shown", rank)
		}
		sockets := socketsOf(pid)
		if len(sockets) == 0 {
			t.Fatalf("rank %d has no sockets: nothing is shown", rank)
		}
		c.sockets = append(c.sockets, sockets...)
	}
	return c
}

// mapsOurMemory reports whether a process maps memory that other ranks share.
func mapsOurMemory(pid int) bool {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	return err == nil && bytes.Contains(maps, []byte("/memfd:ringtrain"))
}

// socketsOf returns the inodes of a process's open sockets.
func socketsOf(pid int) []string {
	var inodes []string
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && strings.HasPrefix(to, "socket:[") {
			inodes = append(inodes, strings.Trim(to, "socket:[]"))
		}
	}
	return inodes
}

// gone verifies that processes, sockets and files of the job disappear soon.
func (c *crowd) gone() {
	c.Helper()
	c.nothingLeft(5*time.Second, c.pids)
	eventually(c, 5*time.Second, "the job's unix sockets are gone", func() bool {
		open, err := os.ReadFile("/proc/thread-self/net/unix") // in the network namespace of the process's first thread
		if err != nil {
			c.Fatal(err)
		}
		return !slices.ContainsFunc(strings.Fields(string(open)), func(word string) bool { return slices.Contains(c.sockets, word) })
	})
	if left, _ := filepath.Glob("/dev/shm/*ringtrain*"); len(left) > 0 {
		c.Errorf("files in shared memory: %v", left)
	}
}

// crowds returns the world sizes of these tests, fewer under -short.
func crowds(t *testing.T) []int {
	t.Helper()
	if short(t) {
		return []int{2}
	}
	return []int{2, 4, 8}
}

func crowdName(n int, launched bool, victim int) string {
	return fmt.Sprintf("ranks=%d/launched=%v/victim=%d", n, launched, victim)
}

// TestKilledInMemory kills a rank by -9 within an all-reduce in shared memory. It
// verifies that the others name it and end, and that no memory and sockets are left. The
// victims are the leader of the host's memory, which without a launcher also serves the
// rendezvous, and the last rank.
func TestKilledInMemory(t *testing.T) {
	var firsts []time.Duration
	for _, n := range crowds(t) {
		for _, launched := range []bool{true, false} {
			for _, victim := range []int{0, n - 1} {
				t.Run(crowdName(n, launched, victim), func(t *testing.T) {
					c := startCrowd(t, n, launched)
					b := c.strike(victim, syscall.SIGKILL)
					c.wantCulprit(c.wait(victim), victim)
					if c.runner != nil && c.runner.wait().code != 137 {
						t.Errorf("the launcher ended with %d, want 137", c.runner.wait().code)
					}
					within(t, "all others' words", 2*time.Second, 20*time.Second, <-b.named)
					c.gone()
					firsts = append(firsts, b.firstNamed()...)
				})
			}
		}
	}
	wantNamed(t, time.Second, killedNamed, firsts)
}

// TestStoppedInMemory stops a rank by SIGSTOP within an all-reduce in shared memory. It
// verifies that the others name it. All jobs are stopped first and awaited afterwards,
// because the rendezvous waits for five seconds.
func TestStoppedInMemory(t *testing.T) {
	long(t)
	t.Parallel() // parallel with the other tests that wait
	type stopped struct {
		*crowd
		*blow
		name string
	}
	var jobs []stopped
	for _, n := range crowds(t) {
		for _, launched := range []bool{true, false} {
			victim := n - 1
			if n == 4 && launched {
				victim = 0 // the leader of the memory; without a launcher it serves the rendezvous, which judges
			}
			c := startCrowd(t, n, launched)
			jobs = append(jobs, stopped{c, c.strike(victim, syscall.SIGSTOP), crowdName(n, launched, victim)})
		}
	}
	var firsts []time.Duration
	for _, j := range jobs {
		ends := j.wait(j.victim)
		ended, named := time.Since(j.at), <-j.named
		j.wantCulprit(ends, j.victim)
		within(t, j.name+": all others' words", 7*time.Second, 30*time.Second, named)
		firsts = append(firsts, j.firstNamed()...)
		if j.runner == nil { // no launcher ends it
			j.ranks[j.victim].signal(syscall.SIGKILL)
		}
		j.gone()
		t.Logf("%s: all others had ended after %v", j.name, ended.Round(time.Millisecond))
	}
	wantNamed(t, 5*time.Second, stoppedNamed, firsts)
}
