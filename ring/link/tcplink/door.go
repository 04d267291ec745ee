package tcplink

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
)

// door lets neighbours in again whose connection has broken, as long as one of the
// links of an Open is there.
type door struct {
	waiting map[handshake.Peer]*receiver
	source  func(net.Conn) net.Conn // of Config
	open    atomic.Int32            // receivers that are not closed
	stop    context.CancelFunc
	ended   chan struct{}
}

// keep serves lis until all who wait have left.
func (d *door) keep(party handshake.Party, lis net.Listener) {
	ctx, stop := context.WithCancel(context.Background())
	d.stop, d.ended = stop, make(chan struct{})
	d.open.Store(int32(len(d.waiting)))
	go func() {
		defer close(d.ended)
		handshake.Attend(ctx, party, d.expect, func(ctx context.Context) (guest, error) {
			conn, err := acceptUntil(ctx, lis)
			return guest{conn}, err
		})
	}()
}

// leave is called once by each who waits. After the last one, lis is free again.
func (d *door) leave() {
	if d.open.Add(-1) == 0 {
		d.stop()
		<-d.ended
	}
}

// expect is a handshake.Expect.
func (d *door) expect(peer handshake.Peer) (delivery.Position, func(guest) error, error) {
	r, ok := d.waiting[peer]
	if !ok {
		return delivery.Position{}, nil, errors.New("nobody waits for this rank and stream")
	}
	o, err := r.expect()
	return o.next, func(g guest) error {
		o.conn = d.source(g.Conn)
		err := r.take(o)
		if err != nil {
			o.conn.Close()
		}
		return err
	}, err
}
