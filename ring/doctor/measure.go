package doctor

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/pairwise"
)

// The constants of a pair's measurement.
const (
	pingCount     = 21              // the first one does not count: it wakes the partner
	answerTimeout = 3 * time.Second // for a message of a partner that measures
	minBurst      = 64 << 10        // bytes
	maxBurst      = 4 << 20
	maxBursts     = 4                      // of size mostBurst
	maxBurstTime  = 300 * time.Millisecond // for all bursts, if the limit allows it
	minBurstTime  = 20 * time.Millisecond
)

// measure measures the connection l to the partner: round trips, and bandwidth if turn is not 0.
// The partner may be in another measurement until the deadline. now is the clock to compare with
// the partner's.
func (p *Pair) measure(l *peerConn, deadline time.Time, turn time.Duration, now func() time.Time) error {
	l.SetDeadline(deadline)
	if err := l.send(kindBegin, nil); err != nil {
		return err
	}
	if _, err := l.expect(kindReady); err != nil {
		return inPhase("connected, but it takes no part in the measurement", err)
	}
	if err := p.ping(l, now); err != nil {
		return inPhase("round trips of 64 bytes", err)
	}
	if turn > 0 {
		if err := p.burst(l, turn); err != nil {
			return inPhase("64 bytes pass, larger packets do not (MTU?)", err)
		}
	}
	return l.send(kindEnd, nil)
}

// ping measures the latency and the offset of the partner's clock.
func (p *Pair) ping(l *peerConn, now func() time.Time) error {
	var took []time.Duration
	payload := make([]byte, pingBytes)
	for i := range pingCount {
		l.SetDeadline(time.Now().Add(answerTimeout))
		sent, start := now(), time.Now()
		if err := l.send(kindPing, payload); err != nil {
			return err
		}
		answer, err := l.expect(kindPing)
		if err != nil {
			return err
		}
		if len(answer) < 8 {
			return exitcode.With(exitcode.Protocol, fmt.Errorf("an answer of %d bytes, want %d", len(answer), pingBytes))
		}
		if i == 0 {
			continue
		}
		trip := time.Since(start)
		if len(took) == 0 || trip < slices.Min(took) {
			theirs := int64(binary.LittleEndian.Uint64(answer))
			p.Ahead = float64(theirs-sent.UnixNano()-int64(trip/2)) / 1e9
		}
		took = append(took, trip)
	}
	slices.Sort(took)
	p.Latency = max(took[len(took)/2], time.Nanosecond).Seconds()
	return nil
}

// burst measures the bandwidth.
func (p *Pair) burst(l *peerConn, turn time.Duration) (err error) {
	payload := make([]byte, dataBytes)
	bursts := pairwise.Bursts{
		Least: minBurst, Most: maxBurst, Idle: time.Duration(p.Latency * float64(time.Second)),
		Done: func(b pairwise.Burst) bool {
			return b.Largest == maxBursts || b.Took >= turn/3 || b.Elapsed >= turn
		},
	}
	p.Bandwidth, err = bursts.Bandwidth(func(size int) (time.Duration, error) { return sendBurst(l, payload, size) })
	return err
}

// sendBurst sends a burst and returns the time until it has arrived.
func sendBurst(l *peerConn, payload []byte, size int) (time.Duration, error) {
	start := time.Now()
	for range size / dataBytes {
		l.SetDeadline(time.Now().Add(answerTimeout))
		if err := l.send(kindData, payload); err != nil {
			return 0, err
		}
	}
	l.SetDeadline(time.Now().Add(answerTimeout))
	if err := l.send(kindFlush, nil); err != nil {
		return 0, err
	}
	_, err := l.expect(kindArrived)
	return time.Since(start), err
}

// answer is the partner's part of measure. now is its clock.
func answer(l *peerConn, deadline time.Time, now func() time.Time) error {
	l.SetDeadline(deadline)
	if _, err := l.expect(kindBegin); err != nil {
		return err
	}
	if err := l.send(kindReady, nil); err != nil {
		return err
	}
	pong := make([]byte, pingBytes)
	for {
		l.SetDeadline(time.Now().Add(2 * answerTimeout)) // the measuring side times out first, since it knows the phase
		kind, _, err := l.next()
		if err != nil {
			return err
		}
		switch kind {
		case kindPing:
			binary.LittleEndian.PutUint64(pong, uint64(now().UnixNano()))
			err = l.send(kindPing, pong)
		case kindData:
		case kindFlush:
			err = l.send(kindArrived, nil)
		case kindEnd:
			return nil
		default:
			return exitcode.With(exitcode.Protocol, fmt.Errorf("message %q in a measurement", kind))
		}
		if err != nil {
			return err
		}
	}
}
