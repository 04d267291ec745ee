package tcplink

import (
	"context"
	"fmt"
	"net"
	"time"
)

// acceptUntil returns a function that accepts one connection. If its context ends first, it
// returns an error and lis stays usable.
func acceptUntil(lis net.Listener) func(context.Context) (net.Conn, error) {
	d, ok := lis.(interface{ SetDeadline(time.Time) error })
	if !ok {
		panic("tcplink: listener without SetDeadline")
	}
	return func(ctx context.Context) (net.Conn, error) {
		done := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			d.SetDeadline(time.Unix(1, 0))
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
}
