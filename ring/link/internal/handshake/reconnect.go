package handshake

import (
	"context"

	"ringtrain/ring/link/internal/delivery"
)

// Resume returns the position at which the stream from a reconnecting peer continues, and
// the function that takes the new connection over. The error is the reason to refuse the
// peer. Of two connections from one peer, the one with the later call of Resume is the newer
// one. Resume may be called from several goroutines.
type Resume[G Inbound] func(Peer) (next delivery.Position, take func(G) error, err error)

// ServeReconnects accepts the reconnecting workers among the connections of next, until ctx
// ends or next fails. It hands over each connection after its handshake. It refuses
// strangers and workers of another generation or incarnation. All its goroutines have ended
// when it returns.
func ServeReconnects[G Inbound](ctx context.Context, p Identity, expect Resume[G], next func(context.Context) (G, error)) {
	r := newPool()
	defer r.running.Wait()
	for {
		g, err := next(ctx)
		if err != nil {
			return
		}
		r.handle(ctx, g, func(c Conn) (keep func() error, err error) {
			err = p.Readmit(c, func(peer Peer) (next delivery.Position, err error) {
				next, take, err := expect(peer)
				keep = func() error { return take(g) }
				return next, err
			})
			return keep, err
		})
	}
}
