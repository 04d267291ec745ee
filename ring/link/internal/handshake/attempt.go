package handshake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"ringtrain/ring/link/internal/delivery"
)

// The limits on one attempt to connect to a worker.
const (
	dialTimeout      = 2 * time.Second // TCP connect
	handshakeTimeout = 5 * time.Second
)

// A Dialer connects to an address.
type Dialer = func(ctx context.Context, addr string) (net.Conn, error)

// Reach makes one attempt to connect to a peer.
func (i Identity) Reach(ctx context.Context, dial Dialer, to Peer) (net.Conn, error) {
	attempt, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := dial(attempt, i.worker(to).Addr)
	if err != nil {
		return nil, delivery.WithoutAddresses(err)
	}
	if err := within(ctx, conn, func(c Conn) error { return i.Dial(c, to) }); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// within runs one side's part of a handshake within handshakeTimeout and ctx.
func within(ctx context.Context, conn net.Conn, part func(Conn) error) error {
	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	err := part(conn)
	if !stop() {
		return context.Cause(ctx)
	}
	conn.SetDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("no answer within %v: %w", handshakeTimeout, os.ErrDeadlineExceeded)
	}
	return delivery.WithoutAddresses(err)
}
