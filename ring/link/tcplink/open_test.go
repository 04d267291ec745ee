package tcplink

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/token"
)

// TestPlainListener verifies that a listener of package net serves one Open after another,
// also after an Open that gave up.
func TestPlainListener(t *testing.T) {
	n := &network{}
	members := world(t, n, 2)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	n.lis[1] = plain
	members[0].Workers[1].Addr = plain.Addr().String()
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	there, back := []ring.Route{{To: 1, From: -1}}, []ring.Route{{To: -1, From: 0}}
	if _, err := n.Open(soon, members[1], token.Token{}, back); err == nil {
		t.Fatal("rank 1 opened a link alone")
	}
	opened := make(chan error, 1)
	go func() {
		links, err := n.Open(t.Context(), members[0], token.Token{}, there)
		if err == nil {
			err = links[0].Close()
		}
		opened <- err
	}()
	links, err := n.Open(t.Context(), members[1], token.Token{}, back)
	if err != nil {
		t.Fatal(err)
	}
	links[0].Close()
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// TestClosedListener verifies that Open ends when its listener is closed.
func TestClosedListener(t *testing.T) {
	n := &network{}
	m := world(t, n, 2)[1]
	n.lis[1].Close()
	if _, err := n.Open(t.Context(), m, token.Token{}, []ring.Route{{To: 0, From: 0}}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v, want net.ErrClosed", err)
	}
}
