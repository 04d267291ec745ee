package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// TestThousandJoin verifies that 1,000 workers in the test's process join a separate
// rendezvous, within bounds of time and memory.
func TestThousandJoin(t *testing.T) {
	long(t)
	if raceDetector {
		t.Skip("the race detector takes several times the memory that is measured here")
	}
	const size, limit = 1000, 5 * patience // on a busy machine
	secret := token.New()
	b := newBox(t).with("RINGTRAIN_TOKEN=" + secret.Reveal()).lasting(limit)
	at := "127.0.0.1:" + strconv.Itoa(freePorts(t, 1)[0])
	// A thousand workers in one process may send heartbeats late, so the lease is long.
	meeting := b.start("rendezvous", "--listen", at, "--world-size", strconv.Itoa(size), "--lease", limit.String(), "--start-timeout", limit.String())
	meeting.await("rendezvous on " + at)
	idle := peakOf(t, meeting)
	began := time.Now()
	sessions, errs := make([]*rendezvous.Session, size), make([]error, size)
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() {
			sessions[rank], errs[rank] = rendezvous.Join(t.Context(), rendezvous.Options{
				Addr: at, Token: secret, Rank: rank, WorldSize: size, StartTimeout: limit,
				Self: ring.Worker{Host: "host" + strconv.Itoa(rank/20), HostID: strconv.Itoa(rank / 20), Addr: "127.0.0.1:4000", PID: rank + 1, Incarnation: uint64(rank) + 1},
			})
		})
	}
	all.Wait()
	took := time.Since(began)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	peak := peakOf(t, meeting)
	fmt.Printf("%d workers have joined after %v; the rendezvous had %d MiB at most, %d before\n", size, took.Round(time.Millisecond), peak>>20, idle>>20)
	if peak > 200<<20 {
		t.Errorf("the rendezvous of %d workers takes %d MiB, want 200 at most", size, peak>>20)
	}
	for rank, s := range sessions {
		all.Go(func() {
			if n := s.Membership().Size(); n != size {
				t.Errorf("rank %d sees %d workers, want %d", rank, n, size)
			}
			if err := s.Leave(t.Context()); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
			s.Close()
		})
	}
	all.Wait()
	if e := meeting.wait(); e.code != 0 {
		t.Errorf("the rendezvous ended with %d, want 0\n%s", e.code, e.stderr)
	}
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakOf returns the maximum memory of a process in bytes.
func peakOf(t *testing.T, p *testProcess) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	m := peakLine.FindSubmatch(text)
	if err != nil || m == nil {
		t.Fatalf("no peak of memory in %q, %v", text, err)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n << 10
}
