package ring_test

import (
	"errors"
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// TestMembership verifies the neighbours of each rank and its place on its host.
func TestMembership(t *testing.T) {
	hosts := []string{"a", "b", "a", "b", "b"}
	local := [][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}
	for rank := range hosts {
		m := ringtest.Membership(len(hosts), rank)
		for r, h := range hosts {
			m.Workers[r].HostID = h
		}
		if m.Size() != 5 || m.Hosts() != 2 || m.Self().Rank != rank || m.Right().Rank != (rank+1)%5 || m.Left().Rank != (rank+4)%5 {
			t.Errorf("rank %d: size %d, hosts %d, self %d, right %d, left %d",
				rank, m.Size(), m.Hosts(), m.Self().Rank, m.Right().Rank, m.Left().Rank)
		}
		if r, n := m.Local(); [2]int{r, n} != local[rank] {
			t.Errorf("rank %d is %d of %d on its host, want %v", rank, r, n, local[rank])
		}
	}
}

// TestCauseOf verifies that CauseOf keeps a first cause, blames a lost neighbour and not the
// rank that noticed, and that the text names rank, host and step.
func TestCauseOf(t *testing.T) {
	first := &ring.Cause{Rank: 3, Host: "h3", Step: 17, Operation: "checkpoint", Text: "disk is full", ExitCode: exitcode.IO}
	peer := &ring.PeerError{Op: "reduce-scatter", Seq: 1841, Step: 3, Rank: 2, Host: "h2", Addr: "10.0.0.7:4402", Err: exitcode.With(exitcode.Retry, ring.ErrTimeout)}
	for _, tt := range []struct {
		name string
		err  error
		want ring.Cause
		text string
	}{
		{"a cause", fmt.Errorf("%w: %w", ring.ErrGenerationEnded, first), *first, "rank 3 on h3 at step 17: disk is full"},
		{"a neighbour", fmt.Errorf("step: %w", peer),
			ring.Cause{Rank: 2, Host: "h2", Step: 5, Operation: "reduce-scatter", Peer: "10.0.0.7:4402", Text: "step: " + peer.Error(), ExitCode: exitcode.Retry},
			"at step 5: step: ring: reduce-scatter 1841, step 3, peer rank 2 (10.0.0.7:4402): ring: operation timed out"},
		{"its own", errors.New("no such key"), ring.Cause{Rank: 1, Host: "h1", Step: 5, Text: "no such key", ExitCode: exitcode.Failed},
			"rank 1 on h1 at step 5: no such key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ring.CauseOf(tt.err, 1, "h1", 5)
			if *got != tt.want || got.Error() != tt.text {
				t.Errorf("cause is %+v, %q\nwant %+v, %q", *got, got, tt.want, tt.text)
			}
		})
	}
	if got := (&ring.Cause{Rank: -1, Step: -1, Text: "nobody"}).Error(); got != "nobody" {
		t.Errorf("a cause without a place reads %q", got)
	}
}
