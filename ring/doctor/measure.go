package doctor

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/pairwise"
)

// How a pair is measured.
const (
	pings      = 21              // the first one is not counted: it wakes the partner
	silence    = 3 * time.Second // of a partner that is in a measurement
	leastBurst = 64 << 10        // bytes; the next has four times as many
	mostBurst  = 4 << 20
	mostBursts = 4                      // of that size
	turnTime   = 300 * time.Millisecond // for all bursts, if there is time enough
	leastTurn  = 20 * time.Millisecond
)

// measure measures the way to the partner by l: round trips, and bandwidth if
// turn is not 0. The partner may come until the deadline, for it may be in another
// measurement. now is the clock that its own is compared with.
func (p *Pair) measure(l *line, deadline time.Time, turn time.Duration, now func() time.Time) error {
	l.SetDeadline(deadline)
	if err := l.send(kindBegin, nil); err != nil {
		return err
	}
	if _, err := l.want(kindReady); err != nil {
		return at("it was reached, but takes no part in the measurement", err)
	}
	if err := p.ping(l, now); err != nil {
		return at("round trips of 64 bytes", err)
	}
	if turn > 0 {
		if err := p.burst(l, turn); err != nil {
			return at("64 bytes pass, larger packets do not (MTU?)", err)
		}
	}
	return l.send(kindEnd, nil)
}

// ping measures the latency, and how far the partner's clock is ahead.
func (p *Pair) ping(l *line, now func() time.Time) error {
	var took []time.Duration
	payload := make([]byte, pingBytes)
	for i := range pings {
		l.SetDeadline(time.Now().Add(silence))
		sent, start := now(), time.Now()
		if err := l.send(kindPing, payload); err != nil {
			return err
		}
		answer, err := l.want(kindPing)
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
func (p *Pair) burst(l *line, turn time.Duration) (err error) {
	payload := make([]byte, dataBytes)
	bursts := pairwise.Bursts{
		Least: leastBurst, Most: mostBurst, Idle: time.Duration(p.Latency * float64(time.Second)),
		Done: func(b pairwise.Burst) bool {
			return b.Largest == mostBursts || b.Took >= turn/3 || b.Elapsed >= turn
		},
	}
	p.Bandwidth, err = bursts.Bandwidth(func(size int) (time.Duration, error) { return flood(l, payload, size) })
	return err
}

// flood returns how long a burst takes to arrive.
func flood(l *line, payload []byte, size int) (time.Duration, error) {
	start := time.Now()
	for range size / dataBytes {
		l.SetDeadline(time.Now().Add(silence))
		if err := l.send(kindData, payload); err != nil {
			return 0, err
		}
	}
	l.SetDeadline(time.Now().Add(silence))
	if err := l.send(kindFlush, nil); err != nil {
		return 0, err
	}
	_, err := l.want(kindArrived)
	return time.Since(start), err
}

// answer is the partner's part in measure. now is its clock.
func answer(l *line, deadline time.Time, now func() time.Time) error {
	l.SetDeadline(deadline)
	if _, err := l.want(kindBegin); err != nil {
		return err
	}
	if err := l.send(kindReady, nil); err != nil {
		return err
	}
	pong := make([]byte, pingBytes)
	for {
		l.SetDeadline(time.Now().Add(2 * silence)) // who measures knows better what is wrong, and is first
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
