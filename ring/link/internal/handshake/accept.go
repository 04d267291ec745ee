package handshake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// A Check compares the request of a connection with those that this worker waits for; see
// [Identity.Check].
type Check func(c *token.Conn, admit func(Peer) error) (Peer, error)

// Accept takes a connection from each peer of from out of queue, and answers it. It refuses all
// others, with the reason. It returns the connections in the order of from, nil for a peer that did not
// come before ctx ended, and what was refused. An error of queue while ctx lasts is returned.
//
// A later connection of a peer replaces an earlier one: the peer has given that one up.
func Accept(ctx context.Context, queue *port.Queue, from []Peer, check Check) (conns []*token.Conn, r Refusals, err error) {
	conns = make([]*token.Conn, len(from))
	for missing := len(from); missing > 0; {
		c, err := queue.Take(ctx)
		if err != nil {
			if ctx.Err() != nil {
				err = nil
			}
			return conns, r, err
		}
		peer, err := check(c, func(p Peer) error { return expected(p, from) })
		if err = answer(c, err); err != nil {
			r.add(c, err)
			continue
		}
		at := slices.Index(from, peer)
		if old := conns[at]; old != nil {
			old.Close()
		} else {
			missing--
		}
		conns[at] = c
	}
	return conns, r, nil
}

// expected returns nil if peer is one of from, else the reason to refuse it.
func expected(peer Peer, from []Peer) error {
	if slices.Contains(from, peer) {
		return nil
	}
	var ranks, streams []string
	for _, want := range from {
		ranks = append(ranks, fmt.Sprint(want.Rank))
		if want.Rank == peer.Rank {
			streams = append(streams, fmt.Sprint(want.Stream))
		}
	}
	if len(streams) > 0 {
		return fmt.Errorf("stream is %d, want %s", peer.Stream, alternatives(streams))
	}
	return fmt.Errorf("from rank is %d, want %s", peer.Rank, alternatives(ranks))
}

// answer answers the request of c, with a refusal if why is not nil. It closes c and returns an error
// if c is refused or gone.
func answer(c *token.Conn, why error) error {
	a := token.Answer{}
	if why != nil {
		a = token.Refuse(why)
	} else if gone(c) {
		why = errors.New("it has given up")
	}
	c.SetWriteDeadline(time.Now().Add(token.Timeout))
	if err := c.Answer(a); why == nil {
		why = err
	}
	c.SetWriteDeadline(time.Time{})
	if why != nil {
		c.Close()
	}
	return why
}

// lookTime is how long gone waits for an end that has arrived already.
const lookTime = time.Millisecond

// gone reports whether the dialer of c no longer waits for an answer. The connection may have waited
// in the queue for longer than the dialer.
func gone(c *token.Conn) bool {
	c.SetReadDeadline(time.Now().Add(lookTime))
	defer c.SetReadDeadline(time.Time{})
	_, err := c.Read(make([]byte, 1))
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// closeAll closes the connections that are open.
func closeAll(conns []*Conn) {
	for _, c := range conns {
		if c != nil {
			c.Close()
		}
	}
}

// The Op of an error gives the direction of the failed connection. A dialer mostly knows the
// reason. An acceptor knows only that the peer did not connect.
const (
	opDial   = "handshake" // to the worker
	opAccept = "accept"    // from the worker
)

// peerError reports that there is no link with w.
func peerError(op string, w ring.Worker, err error) error {
	return exitcode.With(exitcode.Retry, &ring.PeerError{Op: op, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err})
}
