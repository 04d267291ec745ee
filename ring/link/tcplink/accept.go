package tcplink

import (
	"context"
	"fmt"
	"net"
	"time"

	"ringtrain/ring/link/internal/handshake"
)

// inbound is an accepted connection that has not finished its handshake.
type inbound struct{ net.Conn }

func (i inbound) From() string { return i.RemoteAddr().String() }

func (i inbound) Handshake(ctx context.Context, part func(handshake.Conn) error) error {
	return doHandshake(ctx, i.Conn, part)
}

// acceptUntil accepts one connection. If ctx ends first, acceptUntil returns an error and lis stays usable.
func acceptUntil(ctx context.Context, lis net.Listener) (net.Conn, error) {
	d, ok := lis.(interface{ SetDeadline(time.Time) error })
	if !ok {
		panic("tcplink: listener without SetDeadline")
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		d.SetDeadline(expiredDeadline)
		close(done)
	})
	c, err := lis.Accept()
	if !stop() {
		<-done
		d.SetDeadline(time.Time{})
	}
	if err != nil {
		return nil, fmt.Errorf("accept links on %s: %w", lis.Addr(), err)
	}
	return c, nil
}
