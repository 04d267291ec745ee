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

// TestSerialConn verifies that 32 connections that read and write at the same time make one
// system call at a time and lose no packet.
func TestSerialConn(t *testing.T) {
	const packets = 50
	var turn sync.Mutex
	var serving atomic.Int32
	var all sync.WaitGroup
	for range 32 {
		a, b := pair(t)
		c := serialConn{b, &turn}
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
					if n := serving.Add(1); n > 1 {
						t.Errorf("%d calls at the same time, want 1", n)
					}
					serving.Add(-1)
					return nil
				})
			}
		})
	}
	all.Wait()
}

// TestSerialConnEnds verifies that a deadline and Close end a goroutine that waits for a
// packet.
func TestSerialConnEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(c *net.UnixConn)
		want error
	}{
		{"by=deadline", func(c *net.UnixConn) { c.SetDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		{"by=close", func(c *net.UnixConn) { c.Close() }, net.ErrClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, b := pair(t)
			b.SetDeadline(time.Now().Add(time.Hour))
			failed := make(chan error)
			go func() {
				_, err := serialConn{b, new(sync.Mutex)}.Read(make([]byte, 8))
				failed <- err
			}()
			tt.end(b)
			if err := <-failed; !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}
