package launch

import (
	"io"
	"sync/atomic"
	"time"
)

// Whoever has logged in to a host knows that its agent lives by what it says. If that is
// nothing for a second, it says so. An agent that is stopped, or whose host is, closes
// nothing: ssh may well live on beside it.

const (
	// aliveEvery is how often an agent says something.
	aliveInterval = time.Second
	// silentNotice is after how long of silence people are told, and silentTimeout
	// after how long the host counts as lost: its agent would not wait longer for us.
	silentNotice  = 5 * time.Second
	silentTimeout = beatTimeout

	lostTicks = int32(silentTimeout / aliveInterval)
)

// silence is how long nothing was heard of an agent, counted in turns of aliveEvery that
// this process was there for: if it was stopped itself, nobody was silent. Nor does a turn
// count at whose end who listens is busy with what it heard: it writes to a disk that hangs.
type silenceTimer struct {
	ticks atomic.Int32
	busy  atomic.Bool
}

// heard ends the silence. One that was too long has no end.
func (s *silenceTimer) reset() {
	for n := s.ticks.Load(); n < lostTicks && !s.ticks.CompareAndSwap(n, 0); {
		n = s.ticks.Load()
	}
}

// listening is a reader of what an agent says. A long frame on a slow way is no silence.
type silenceReader struct {
	io.Reader
	silence *silenceTimer
}

func (l silenceReader) Read(p []byte) (int, error) {
	l.silence.busy.Store(false)
	n, err := l.Reader.Read(p)
	l.silence.busy.Store(true)
	if n > 0 {
		l.silence.reset()
	}
	return n, err
}

// lost tells whether it was too long.
func (s *silenceTimer) expired() bool { return s.ticks.Load() >= lostTicks }

// watch calls notice once for each silence, and lost if it is too long, until over is
// closed.
func (s *silenceTimer) watch(over <-chan struct{}, notice, lost func()) {
	turn := time.NewTicker(aliveInterval)
	defer turn.Stop()
	for {
		select {
		case <-over:
			return
		case <-turn.C:
		}
		if s.busy.Load() {
			continue
		}
		switch time.Duration(s.ticks.Add(1)) * aliveInterval {
		case silentNotice:
			notice()
		case silentTimeout:
			lost()
			return
		}
	}
}

// keepAlive has w say that host lives when it has said nothing else, until over is closed.
func (w *frameWriter) keepAlive(host int, over <-chan struct{}) {
	turn := time.NewTicker(aliveInterval)
	defer turn.Stop()
	for {
		select {
		case <-over:
			return
		case <-turn.C:
		}
		if !w.wrote.Swap(false) {
			w.send(frame{kind: kindAlive, host: host})
			w.wrote.Store(false)
		}
	}
}
