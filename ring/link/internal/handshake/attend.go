package handshake

import (
	"context"

	"ringtrain/ring/link/internal/delivery"
)

// Expect tells where the stream from a peer whose connection has broken goes on, and
// returns what takes another one in its place, or why nobody waits for it. Of two
// connections from one peer, the one that was expected later is the newer one. It
// may be called from several goroutines.
type Expect[G Guest] func(Peer) (next delivery.Position, take func(G) error, err error)

// Attend lets workers in whose connection has broken: it shakes hands with all
// whom next delivers until ctx ends or next fails, and hands over those that are
// who they say. Strangers and workers of another generation or incarnation are
// refused. All goroutines have ended when it returns.
func Attend[G Guest](ctx context.Context, p Party, expect Expect[G], next func(context.Context) (G, error)) {
	r := newReception()
	defer r.shaking.Wait()
	for {
		g, err := next(ctx)
		if err != nil {
			return
		}
		r.receive(ctx, g, func(c Conn) (keep func() error, err error) {
			err = p.Readmit(c, func(peer Peer) (next delivery.Position, err error) {
				next, take, err := expect(peer)
				keep = func() error { return take(g) }
				return next, err
			})
			return keep, err
		})
	}
}
