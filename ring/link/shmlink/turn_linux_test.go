package shmlink

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestTurns has 32 connections read and write at the same time. If it fails, a leader
// gets a thread for each member that it is interrupted at, or loses a packet.
func TestTurns(t *testing.T) {
	const packets = 50
	var turn sync.Mutex
	var inside atomic.Int32
	var all sync.WaitGroup
	for range 32 {
		a, b := pair(t)
		c := inTurn{b, &turn}
		all.Go(func() {
			for range packets {
				a.Write([]byte("ping"))
			}
			a.Read(make([]byte, 8))
		})
		all.Go(func() {
			defer c.Write([]byte("pong"))
			for i := range packets {
				answer := make([]byte, 8)
				if n, err := c.Read(answer); err != nil || string(answer[:n]) != "ping" {
					t.Errorf("packet %d is %q, %v", i, answer[:n], err)
					return
				}
				c.call(func() error {
					if n := inside.Add(1); n > 1 {
						t.Errorf("%d calls at the same time, want 1", n)
					}
					inside.Add(-1)
					return nil
				})
			}
		})
	}
	all.Wait()
}

// TestTurnEnds fails if a greeting that nobody answers, or a memory that is closed,
// leaves a goroutine that waits for a packet.
func TestTurnEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(c *net.UnixConn)
		want error
	}{
		{"by=deadline", func(c *net.UnixConn) { c.SetDeadline(longAgo) }, os.ErrDeadlineExceeded},
		{"by=close", func(c *net.UnixConn) { c.Close() }, net.ErrClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, b := pair(t)
			b.SetDeadline(time.Now().Add(time.Hour))
			failed := make(chan error)
			go func() {
				_, err := inTurn{b, new(sync.Mutex)}.Read(make([]byte, 8))
				failed <- err
			}()
			tt.end(b)
			if err := <-failed; !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}
