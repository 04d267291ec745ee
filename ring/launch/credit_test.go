package launch

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
)

// TestCreditsAcquire verifies that a writer without credit waits, that an acknowledgement
// wakes it, and that close does.
func TestCreditsAcquire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, v := newCredits(), outputID{2, kindOut}
		sent := 0
		go func() {
			for c.acquire(v, windowBytes/4) {
				sent++
			}
		}()
		for _, tt := range []struct {
			taken int
			want  int
		}{{0, 4}, {windowBytes/4 - 1, 4}, {1, 5}, {windowBytes, 9}, {2 * windowBytes, 13}} { // a credit beyond the sent bytes is ignored
			c.release(v, tt.taken)
			synctest.Wait()
			if sent != tt.want {
				t.Errorf("after %d bytes are taken %d pieces are sent, want %d", tt.taken, sent, tt.want)
			}
		}
		if !c.acquire(outputID{2, kindErr}, windowBytes) || !c.acquire(outputID{3, kindOut}, windowBytes) || !c.acquire(v, 0) {
			t.Error("another output waits, too")
		}
		c.close()
	})
}

// TestCreditsClose verifies that output after close is sent without gaps and only within
// the credit that is left.
func TestCreditsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, v, w := newCredits(), outputID{2, kindOut}, outputID{2, kindErr}
		c.acquire(v, windowBytes)
		waits := true
		go func() {
			if c.acquire(v, 1) {
				t.Error("a byte is sent without credit")
			}
			waits = false
		}()
		synctest.Wait()
		c.close()
		synctest.Wait()
		if waits {
			t.Error("a rank waits for credit that nobody gives")
		}
		for _, tt := range []struct {
			n    int
			sent bool
		}{{windowBytes - 2, true}, {2, true}, {1, false}, {0, false}} {
			if got := c.acquire(w, tt.n); got != tt.sent {
				t.Errorf("%d bytes after the end: sent %v, want %v", tt.n, got, tt.sent)
			}
		}
	})
}

// TestUnacked verifies that a sender which keeps to its credit never waits for ever, and
// that one which does not is noticed. Frames have random sizes.
func TestUnacked(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		d, v := newUnacked(), outputID{2, kindErr}
		sent, held := 0, []int(nil)
		for turn := 0; turn < 500; turn++ {
			if n := 1 + rng.IntN(windowBytes/2); sent+n <= windowBytes {
				sent += n
				if !d.receive(v, n) {
					t.Fatalf("seed=%d: cut off with %d bytes", seed, sent)
				}
				held = append(held, n)
			} else if len(held) == 0 {
				t.Fatalf("seed=%d: all is passed on, and the rank waits to send %d with %d sent", seed, n, sent)
			}
			for len(held) > 0 && rng.IntN(2) == 0 {
				sent -= d.written(v, held[0])
				held = held[1:]
			}
			if sent+windowBytes/2 > windowBytes { // the sender may wait now
				for _, n := range held {
					sent -= d.written(v, n)
				}
				held = nil
			}
		}
		if d.receive(v, windowBytes-sent) != true || d.receive(v, 1) {
			t.Errorf("seed=%d: a byte too many is taken, or the last one is not", seed)
		}
	}
}

// TestAckFrame verifies that an acknowledgement survives the wire, and that invalid ones
// are refused.
func TestAckFrame(t *testing.T) {
	want := outputID{4, kindErr}
	if v, n, ok := ackFrame(want, 77).parseAck(); v != want || n != 77 || !ok {
		t.Errorf("%v, %d bytes, %v; want %v and 77", v, n, ok, want)
	}
	for _, payload := range [][]byte{nil, {kindOut, 0, 0, 0}, {kindOut, 0, 0, 0, 1, 0}, {kindBeat, 0, 0, 0, 1}, {kindOut, 0, 1, 0, 1}, {kindOut, 255, 255, 255, 255}} {
		if _, _, ok := (frame{kindAck, 4, payload}).parseAck(); ok {
			t.Errorf("payload %v is believed", payload)
		}
	}
}

// TestOutputMuxAccepted verifies that asynchronous writers never wait, get credit only when
// there is room, and keep the order of lines.
func TestOutputMuxAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pager{next: make(chan struct{})}
		o := newOutputMux(p, io.Discard, false, nil)
		paid, written := []int{}, false
		owe := func(i int, n int) {
			o.write(false, bytes.Repeat([]byte{byte('0' + i)}, n), func() { paid = append(paid, i) })
		}
		for i := range 2 { // the first line is being written
			owe(i, queueLimit)
			synctest.Wait()
		}
		for i := 2; i < 5; i++ {
			owe(i, 10)
		}
		owe(5, 0)
		go func() { o.write(false, []byte("x"), nil); written = true }()
		synctest.Wait()
		if !slices.Equal(paid, []int{0, 1}) || written {
			t.Errorf("paid are %v, want 0 and 1; the rank here has written: %v", paid, written)
		}
		for range 2 {
			p.next <- struct{}{}
			synctest.Wait()
		}
		if !written {
			t.Error("the rank here waits for those elsewhere")
		}
		owe(6, queueLimit)
		p.next <- struct{}{}
		synctest.Wait()
		if !slices.Equal(paid, []int{0, 1, 2}) {
			t.Errorf("paid are %v, want 2 to be the next one", paid)
		}
		o.raiseLimit(false)
		if !slices.Equal(paid, []int{0, 1, 2, 4, 5, 6}) { // line 3 is being written
			t.Errorf("paid are %v when nobody is to wait, want all but 3", paid)
		}
		close(p.next)
		if unread, err := o.close(); unread || err != nil {
			t.Error(unread, err)
		}
		want := append(append(bytes.Repeat([]byte("0"), queueLimit), bytes.Repeat([]byte("1"), queueLimit)...), "222222222233333333334444444444x"...)
		if want = append(want, bytes.Repeat([]byte("6"), queueLimit)...); !bytes.Equal(p.read, want) {
			t.Error("the lines have changed places, or some are lost")
		}
	})
}
