package handshake

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// TestReview2LinkStranger has somebody with another token, or without the protocol,
// answer in the place of a neighbour for three seconds, until the neighbour is there. It
// fails if that ends the worker, which was sent there by a rendezvous with the token.
func TestReview2LinkStranger(t *testing.T) {
	for name, answer := range map[string]func(*town, Conn){
		"answers=another token": func(w *town, c Conn) {
			p := w.party(1)
			p.Token = token.New()
			p.Accept(c, func(Peer) error { return nil })
		},
		"answers=no, by another token": func(w *town, c Conn) {
			p := w.party(1)
			p.Token, p.Membership.JobID = token.New(), "job-2"
			p.Accept(c, func(Peer) error { return nil })
		},
		"answers=http": func(_ *town, c Conn) {
			readMessage(c, helloMagic)
			c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(2)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				met := make(chan error, 1)
				go func() {
					_, _, err := w.meet(ctx, 0, []ring.Route{{To: 1, From: -1}})
					met <- err
				}()
				for began := time.Now(); time.Since(began) < 3*time.Second; {
					select {
					case g := <-w.doors[1]:
						g.Conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
						answer(w, g.Conn)
						g.Close()
					case err := <-met:
						t.Fatalf("rank 0 ends after %v: %v (code %d)", time.Since(began), err, exitcode.Of(err))
					}
				}
				if _, _, err := w.meet(ctx, 1, []ring.Route{{To: -1, From: 0}}); err != nil {
					t.Error(err)
				}
				if err := <-met; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
