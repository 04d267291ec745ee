package launch

import (
	"io"
	"sync/atomic"
	"time"
)

// A process that has logged in to a host knows that the agent lives by its frames. An agent
// with nothing to send sends kindAlive once a second. An agent that is stopped, or whose
// host is stopped, closes nothing: its ssh may live on.

const (
	// aliveInterval is the time between two frames of an agent.
	aliveInterval = time.Second
	// People are told of a silence after silentNotice. After silentTimeout the host counts
	// as lost: its agent would not wait longer for the launcher.
	silentNotice  = 5 * time.Second
	silentTimeout = beatTimeout

	lostTicks = int32(silentTimeout / aliveInterval)
)

// silenceTimer measures the silence of an agent in ticks of aliveInterval. A tick counts
// only if this process runs and its reader waits: a stopped process hears nothing, and a
// busy reader writes to a disk that hangs.
type silenceTimer struct {
	ticks atomic.Int32
	busy  atomic.Bool
}

// reset ends the silence, unless it has expired.
func (s *silenceTimer) reset() {
	for n := s.ticks.Load(); n < lostTicks && !s.ticks.CompareAndSwap(n, 0); {
		n = s.ticks.Load()
	}
}

// silenceReader resets the timer at each read. A long frame over a slow network is no
// silence.
type silenceReader struct {
	io.Reader
	silence *silenceTimer
}

func (s silenceReader) Read(p []byte) (int, error) {
	s.silence.busy.Store(false)
	n, err := s.Reader.Read(p)
	s.silence.busy.Store(true)
	if n > 0 {
		s.silence.reset()
	}
	return n, err
}

// lasts returns how long the silence has lasted.
func (s *silenceTimer) lasts() time.Duration { return time.Duration(s.ticks.Load()) * aliveInterval }

// expired reports whether the silence was too long.
func (s *silenceTimer) expired() bool { return s.ticks.Load() >= lostTicks }

// watch calls notice once for each silence, and lost after silentTimeout, until over is
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

// keepAlive sends kindAlive when w has sent nothing else, until over is closed.
func (w *frameWriter) keepAlive(over <-chan struct{}) {
	turn := time.NewTicker(aliveInterval)
	defer turn.Stop()
	for {
		select {
		case <-over:
			return
		case <-turn.C:
		}
		if !w.wrote.Swap(false) {
			w.send(frame{kind: kindAlive})
			w.wrote.Store(false)
		}
	}
}
