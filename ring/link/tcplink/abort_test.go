package tcplink

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// TestAbortMidFrame verifies that an abort inside a frame reaches the others with its
// cause. Rank 0 of three ends its group while it sends a frame to rank 1, which computes and
// reads nothing. Rank 1 must not take the end for a broken connection.
func TestAbortMidFrame(t *testing.T) {
	for name, op := range map[string]func(g *ring.Group) error{
		"all-reduce": func(g *ring.Group) error {
			return g.AllReduce(t.Context(), ring.Reduction{Buf: make([]float32, 45<<20)})
		},
		"broadcast": func(g *ring.Group) error {
			return g.Broadcast(t.Context(), 0, bytes.NewReader(make([]byte, 60<<20)), io.Discard)
		},
	} {
		for _, how := range []mode{auth, tls} {
			t.Run("op="+name+"/mode="+how.name, func(t *testing.T) { abortMidFrame(t, op, how) })
		}
	}
}

func abortMidFrame(t *testing.T, op func(g *ring.Group) error, how mode) {
	const p = 3
	cause := errors.New("disk full on rank 0")
	ctx, cancel := context.WithCancelCause(t.Context())
	groups, errs := make([]*ring.Group, p), make([]chan error, p)
	for rank, link := range openRing(t, p, how) {
		life := t.Context()
		if rank == 0 {
			life = ctx
		}
		g, err := ring.New(life, ringtest.Membership(p, rank), ring.Transport{Ring: link}, ring.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		groups[rank], errs[rank] = g, make(chan error, 1)
	}
	for _, rank := range []int{0, 2} {
		go func() { errs[rank] <- op(groups[rank]) }()
	}
	awaitFull(t, groups[0])
	ended := time.Now()
	cancel(cause)
	go func() { errs[1] <- op(groups[1]) }()
	for rank := range p {
		err := <-errs[rank]
		if took := time.Since(ended); took > 5*time.Second {
			t.Errorf("rank %d: ends after %v, want it at once", rank, took)
		}
		if rank == 0 {
			if !errors.Is(err, cause) {
				t.Errorf("rank 0: error %v, want %v", err, cause)
			}
			continue
		}
		if pe, ok := errors.AsType[*ring.PeerError](err); !ok || pe.Rank != 0 || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("rank %d: error %v, want one that blames rank 0 for a full disk", rank, err)
		}
	}
}

// awaitFull returns once a group has sent bytes and then none for a while: the socket
// buffers are full.
func awaitFull(t *testing.T, g *ring.Group) {
	for before := int64(0); ; {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-t.Context().Done():
			return
		}
		if sent, _ := g.SentBytes(); sent > 0 && sent == before {
			return
		} else {
			before = sent
		}
	}
}
