package tcplink

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/delivery"
)

// The two high bits of the hello's stream number the connections of a link that has
// several.
const (
	maxStreams      = 4
	connectionShift = 6
)

// ParseStreams parses Config.Streams: "auto", which is 0, or a number. Another text is an
// error with exitcode.Usage.
func ParseStreams(text string) (int, error) {
	if text == "auto" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil || n < 1 || n > maxStreams {
		return 0, exitcode.With(exitcode.Usage, fmt.Errorf("streams is %q, want auto or 1 to %d", text, maxStreams))
	}
	return int(n), nil
}

// connectionCount returns the number of connections for the link of r.
func (c Config) connectionCount(r ring.Route) int {
	if r.Stream == ring.StreamRing || r.Stream == ring.StreamAcross {
		return max(c.Streams, 1)
	}
	return 1
}

// connections returns one route for each connection of routes, in the same order.
func (c Config) connections(routes []ring.Route) []ring.Route {
	var all []ring.Route
	for _, r := range routes {
		if r.Stream >= 1<<connectionShift {
			panic("tcplink: route with a stream above 63")
		}
		for lane := range c.connectionCount(r) {
			one := r
			one.Stream |= uint8(lane) << connectionShift
			all = append(all, one)
		}
	}
	return all
}

// stripe returns the link of each route, from the links of its connections.
func (c Config) stripe(routes []ring.Route, links []*link) []ring.Link {
	all := make([]ring.Link, len(routes))
	for i, r := range routes {
		n := c.connectionCount(r)
		switch mine := links[:n]; {
		case mine[0] == nil:
		case n == 1:
			all[i] = mine[0]
		default:
			all[i] = &stripedLink{links: mine}
		}
		links = links[n:]
	}
	return all
}

// stripedLink is a link over several connections. It sends frames over them in turn and
// receives from them in turn, so frames arrive in the order sent. This helps where one
// connection cannot fill the wire.
type stripedLink struct {
	links   []*link
	out, in int // index of the next link to send to and to receive from
}

func (l *stripedLink) Send(ctx context.Context, f ring.Frame) error {
	turn := l.links[l.out]
	l.out = (l.out + 1) % len(l.links)
	return turn.Send(ctx, f)
}

// TrySend implements ring.PromptLink. The turn passes to the next link only when the frame
// is sent whole.
func (l *stripedLink) TrySend(f ring.Frame) bool {
	whole := l.links[l.out].TrySend(f)
	if whole {
		l.out = (l.out + 1) % len(l.links)
	}
	return whole
}

// OnIdle implements ring.PromptLink.
func (l *stripedLink) OnIdle(idle func(last bool)) {
	for _, one := range l.links {
		one.OnIdle(idle)
	}
}

func (l *stripedLink) Recv(ctx context.Context, into []byte) (ring.Frame, error) {
	turn := l.links[l.in]
	l.in = (l.in + 1) % len(l.links)
	return turn.Recv(ctx, into)
}

// Close closes all links at the same time, as each may wait for the neighbour. If one stream
// ends inside a frame, Close sends no goodbye over any of them.
func (l *stripedLink) Close() error {
	last := delivery.Goodbye(l.links[0].generation)
	for _, one := range l.links {
		if one.out != nil && !one.out.atFrameEnd() {
			last.Incomplete = true
		}
	}
	l.end(last)
	return nil
}

// Abort implements ring.AbortLink.
func (l *stripedLink) Abort(why *ring.Abort) error {
	l.end(delivery.Abort(why, l.links[0].generation))
	return nil
}

// OnAbort implements ring.AbortLink.
func (l *stripedLink) OnAbort(heard func(*ring.Abort)) {
	for _, one := range l.links {
		one.OnAbort(heard)
	}
}

func (l *stripedLink) end(last delivery.ClosingFrame) {
	var closing sync.WaitGroup
	for _, one := range l.links {
		closing.Go(func() { one.end(last) })
	}
	closing.Wait()
}
