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

// TestLinkStranger verifies that a worker waits for its neighbour although a stranger
// answers in its place for three seconds, with another token or another protocol. A
// rendezvous with the token has sent the worker there.
func TestLinkStranger(t *testing.T) {
	for name, answer := range map[string]func(*memNetwork, Conn){
		"answers=another token": func(w *memNetwork, c Conn) {
			p := w.identity(1)
			p.Token = token.New()
			p.Accept(c, func(Peer) error { return nil })
		},
		"answers=no, by another token": func(w *memNetwork, c Conn) {
			p := w.identity(1)
			p.Token, p.Membership.JobID = token.New(), "job-2"
			p.Accept(c, func(Peer) error { return nil })
		},
		"answers=http": func(_ *memNetwork, c Conn) {
			readMessage(c, helloMagic)
			c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newMemNetwork(2)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				met := make(chan error, 1)
				go func() {
					_, _, err := w.connect(ctx, 0, []ring.Route{{To: 1, From: -1}})
					met <- err
				}()
				for began := time.Now(); time.Since(began) < 3*time.Second; {
					select {
					case g := <-w.inboxes[1]:
						g.SetDeadline(time.Now().Add(50 * time.Millisecond))
						answer(w, g)
						g.Close()
					case err := <-met:
						t.Fatalf("rank 0 ends after %v: %v (code %d)", time.Since(began), err, exitcode.Of(err))
					}
				}
				if _, _, err := w.connect(ctx, 1, []ring.Route{{To: -1, From: 0}}); err != nil {
					t.Error(err)
				}
				if err := <-met; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
