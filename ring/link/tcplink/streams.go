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

// The connections of a link over several are told apart by the two high bits of
// the hello's stream.
const (
	maxStreams = 4
	laneShift  = 6
)

// ParseStreams reads Config.Streams: auto, which is 0, or a number. What is
// neither is exitcode.Usage.
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

// lanes returns over how many connections the link of r goes.
func (c Config) lanes(r ring.Route) int {
	if r.Stream == ring.StreamRing || r.Stream == ring.StreamAcross {
		return max(c.Streams, 1)
	}
	return 1
}

// connections returns routes with one for each connection, in the same order.
func (c Config) connections(routes []ring.Route) []ring.Route {
	var all []ring.Route
	for _, r := range routes {
		if r.Stream >= 1<<laneShift {
			panic("tcplink: route with a stream above 63")
		}
		for lane := range c.lanes(r) {
			one := r
			one.Stream |= uint8(lane) << laneShift
			all = append(all, one)
		}
	}
	return all
}

// bundle returns the link of each route, given those of its connections.
func (c Config) bundle(routes []ring.Route, links []*link) []ring.Link {
	all := make([]ring.Link, len(routes))
	for i, r := range routes {
		n := c.lanes(r)
		switch mine := links[:n]; {
		case mine[0] == nil:
		case n == 1:
			all[i] = mine[0]
		default:
			all[i] = &lanes{links: mine}
		}
		links = links[n:]
	}
	return all
}

// lanes is a link over several connections. Frames are dealt to them in turn,
// and taken from them in turn, so they arrive in the order sent: which helps
// where one connection alone cannot fill the wire.
type lanes struct {
	links   []*link
	out, in int // whose turn it is
}

func (l *lanes) Send(ctx context.Context, f ring.Frame) error {
	turn := l.links[l.out]
	l.out = (l.out + 1) % len(l.links)
	return turn.Send(ctx, f)
}

// TrySend is that of a ring.PromptLink. It is still the same one's turn where a frame
// is to be sent on.
func (l *lanes) TrySend(f ring.Frame) bool {
	whole := l.links[l.out].TrySend(f)
	if whole {
		l.out = (l.out + 1) % len(l.links)
	}
	return whole
}

// OnIdle is that of a ring.PromptLink.
func (l *lanes) OnIdle(idle func(last bool)) {
	for _, one := range l.links {
		one.OnIdle(idle)
	}
}

func (l *lanes) Recv(ctx context.Context, into []byte) (ring.Frame, error) {
	turn := l.links[l.in]
	l.in = (l.in + 1) % len(l.links)
	return turn.Recv(ctx, into)
}

// Close closes all at the same time, as each may wait for the neighbour. If one
// was cut off in a frame, none has a good end.
func (l *lanes) Close() error {
	last := delivery.Goodbye(l.links[0].generation)
	for _, one := range l.links {
		if one.out != nil && !one.out.quiet() {
			last.Cut = true
		}
	}
	l.end(last)
	return nil
}

// Abort is that of a ring.AbortLink.
func (l *lanes) Abort(why *ring.Abort) error {
	l.end(delivery.Abort(why, l.links[0].generation))
	return nil
}

// OnAbort is that of a ring.AbortLink.
func (l *lanes) OnAbort(heard func(*ring.Abort)) {
	for _, one := range l.links {
		one.OnAbort(heard)
	}
}

func (l *lanes) end(last delivery.Farewell) {
	var closing sync.WaitGroup
	for _, one := range l.links {
		closing.Go(func() { one.end(last) })
	}
	closing.Wait()
}
