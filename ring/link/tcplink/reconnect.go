package tcplink

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
)

// reconnectAcceptor accepts reconnecting neighbours as long as a link of its Open is
// not closed.
type reconnectAcceptor struct {
	receivers map[handshake.Peer]*receiver
	readConn  func(net.Conn) net.Conn // Config.readConn
	active    atomic.Int32            // receivers that are not closed
	stop      context.CancelFunc
	done      chan struct{}
}

// serve accepts connections on lis until all receivers are closed.
func (d *reconnectAcceptor) serve(identity handshake.Identity, lis net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	d.stop, d.done = stop, make(chan struct{})
	d.active.Store(int32(len(d.receivers)))
	go func() {
		defer close(d.done)
		handshake.ServeReconnects(ctx, identity, d.resume, func(ctx context.Context) (inbound, error) {
			conn, err := acceptUntil(ctx, lis)
			return inbound{conn}, err
		})
	}()
}

// release is called once for each receiver when it closes. After the last call lis is free again.
func (d *reconnectAcceptor) release() {
	if d.active.Add(-1) == 0 {
		d.stop()
		<-d.done
	}
}

// resume is a handshake.Resume.
func (d *reconnectAcceptor) resume(peer handshake.Peer) (delivery.Position, func(inbound) error, error) {
	r, ok := d.receivers[peer]
	if !ok {
		return delivery.Position{}, nil, errors.New("nobody waits for this rank and stream")
	}
	o, err := r.expectReplacement()
	return o.next, func(g inbound) error {
		o.conn = d.readConn(g.Conn)
		err := r.offer(o)
		if err != nil {
			o.conn.Close()
		}
		return err
	}, err
}
