package grpclink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/ringtest"
)

// TestAbortOverGRPC verifies that an abort reaches the others with its cause. Rank 0
// of three ends its group while it sends to rank 1, which reads nothing.
func TestAbortOverGRPC(t *testing.T) {
	const p = 3
	cause := errors.New("disk full on rank 0")
	ctx, cancel := context.WithCancelCause(t.Context())
	groups, errs := make([]*ring.Group, p), make([]chan error, p)
	for rank, link := range linktest.OpenRing(t, &network{}, p) {
		lifetime := t.Context()
		if rank == 0 {
			lifetime = ctx
		}
		g, err := ring.New(lifetime, ringtest.Membership(p, rank), ring.Transport{Ring: link}, ring.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		groups[rank], errs[rank] = g, make(chan error, 1)
	}
	op := func(rank int) {
		errs[rank] <- groups[rank].AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 24<<20)})
	}
	go op(0)
	go op(2)
	for sent := int64(0); sent == 0; sent, _ = groups[0].SentBytes() {
		if t.Context().Err() != nil {
			t.Fatal("nothing is sent")
		}
	}
	ended := time.Now()
	cancel(cause)
	go op(1)
	for rank := range p {
		err, name := <-errs[rank], fmt.Sprintf("rank %d", rank)
		if took := time.Since(ended); took > 5*time.Second {
			t.Errorf("%s: ends after %v, want it at once", name, took)
		}
		if pe, ok := errors.AsType[*ring.PeerError](err); rank > 0 && (!ok || pe.Rank != 0 || !strings.Contains(err.Error(), "disk full")) {
			t.Errorf("%s: error %v, want one that blames rank 0 for a full disk", name, err)
		}
	}
}
