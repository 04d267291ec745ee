package tcplink

import (
	"context"
	"fmt"
	"net"
	"time"

	"ringtrain/ring/link/internal/handshake"
)

// guest is a connection that has come in.
type guest struct{ net.Conn }

func (g guest) From() string { return g.RemoteAddr().String() }

func (g guest) Shake(ctx context.Context, part func(handshake.Conn) error) error {
	return shake(ctx, g.Conn, part)
}

// acceptUntil accepts a connection unless ctx ends first. lis is as before then.
func acceptUntil(ctx context.Context, lis net.Listener) (net.Conn, error) {
	d, ok := lis.(interface{ SetDeadline(time.Time) error })
	if !ok {
		panic("tcplink: listener without SetDeadline")
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		d.SetDeadline(longAgo)
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
