package join

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// TestCauseOf verifies the side of a link that a cause names: the neighbours of a round are
// to the left and to the right at once. It also verifies that a worker to which no
// connection came waits for the cause of another.
func TestCauseOf(t *testing.T) {
	m := hostsOf("abcd", 1)
	for _, tt := range []struct {
		op   string
		rank int
		text string
		wait time.Duration
	}{
		{opDial, 2, "link 1 -> 2 at memory:2: why", 0},
		{opDial, 0, "link 1 -> 0 at memory:0: why", 0}, // in round 0; on the ring it is the left neighbour
		{opAccept, 0, "link 1 <- 0 at memory:1: why", causeTimeout},
		{opAccept, 3, "link 1 <- 3 at memory:1: why", causeTimeout},
		{"memory", 0, "why", causeTimeout},
		{"start", 2, "why", causeTimeout},
	} {
		t.Run(fmt.Sprintf("op=%s/rank=%d", tt.op, tt.rank), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				team := teamOf(t.Context(), m, Config{})
				defer team.Close()
				start := time.Now()
				pe := &ring.PeerError{Op: tt.op, Rank: tt.rank, Host: "h", Addr: m.Workers[tt.rank].Addr, Err: errors.New("why")}
				got := team.causeOf(t.Context(), exitcode.With(exitcode.Retry, pe))
				want := ring.Cause{Rank: tt.rank, Host: "h", Step: -1, Operation: tt.op, Peer: pe.Addr, Text: tt.text, ExitCode: exitcode.Retry}
				if *got != want {
					t.Errorf("cause %+v, want %+v", *got, want)
				}
				if took := time.Since(start); took != tt.wait {
					t.Errorf("it took %v, want %v", took, tt.wait)
				}
			})
		})
	}
}
