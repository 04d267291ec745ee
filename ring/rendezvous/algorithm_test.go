package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
)

// TestOtherAlgorithm verifies the end of a job whose rank 1 sums a buffer of another length, on the
// other side of a crossover: rank 1 uses other links, so no rank hears of it there. All must learn
// within 4 s which ranks and lengths differ.
func TestOtherAlgorithm(t *testing.T) {
	for _, lengths := range [][2]int{{100, 200_000}, {200_000, 100}, {100_000, 200_000}} { // of rank 1, and of the others
		t.Run(fmt.Sprintf("rank1=%d/others=%d", lengths[0], lengths[1]), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveInMemory(t, ServerConfig{})
				start := time.Now()
				mesh := memlink.Mesh(4)
				var all sync.WaitGroup
				for _, m := range joinAll(t, s.workers(4)...) {
					rank := m.Membership().Rank
					g, err := ring.New(m.Context(), m.Membership(), mesh[rank], ring.DefaultConfig())
					if err != nil {
						t.Fatal(err)
					}
					m.SetWaitSource(g.Waiting)
					n := lengths[1]
					if rank == 1 {
						n = lengths[0]
					}
					all.Go(func() {
						defer g.Close()
						err := g.AllReduce(m.Context(), ring.Reduction{Buf: make([]float32, n)})
						<-m.Context().Done()
						c, ok := errors.AsType[*ring.Cause](context.Cause(m.Context()))
						if err == nil || !ok || c.ExitCode != exitcode.Usage || !strings.Contains(c.Text, fmt.Sprintf("all-reduce of %d elements on rank 1", lengths[0])) ||
							!strings.Contains(c.Text, fmt.Sprintf("all-reduce of %d elements on rank", lengths[1])) {
							t.Errorf("rank %d: the all-reduce ends with %v, the generation with %v", rank, err, c)
						}
					})
				}
				all.Wait()
				if took := time.Since(start); took > 4*time.Second {
					t.Errorf("known after %v, want 4s at most", took)
				}
			})
		})
	}
}
