package doctor

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// The constants of a pair's measurement.
const (
	headBytes     = 4
	pingCount     = 21 // the first one does not count: it wakes the partner
	pingBytes     = 64
	answerTimeout = 3 * time.Second // for the answer of a partner that measures
	minBurst      = 64 << 10        // bytes
	maxBurst      = 4 << 20
	maxBursts     = 4                      // of size maxBurst
	maxBurstTime  = 300 * time.Millisecond // for all bursts, if the limit allows it
	minBurstTime  = 20 * time.Millisecond
	maxText       = 1 << 20 // bytes of a report
)

// bandwidthRanks reports for each rank whether it measures bandwidth.
func bandwidthRanks(m ring.Membership) []bool {
	hosts := m.HostRanks()
	does := make([]bool, m.Size())
	for rank := range does {
		does[rank] = len(hosts) == 1
	}
	for _, ranks := range hosts {
		does[ranks[0]] = true
	}
	return does
}

// burstTime returns the time for one bandwidth measurement. A round has two measurements, each with
// as much time for other messages; all rounds together take at most limit. 0: the world is too
// large to measure bandwidth.
func burstTime(size int, limit time.Duration) time.Duration {
	turn := min(limit/time.Duration(4*size), maxBurstTime)
	if turn < minBurstTime {
		return 0
	}
	return turn
}

// measure measures the connection to the partner: round trips, and bandwidth if turn is not 0. The
// partner may be in another measurement until the deadline. now is the clock to compare with the
// partner's.
func (p *Pair) measure(conn net.Conn, deadline time.Time, turn time.Duration, now func() time.Time) error {
	conn.SetDeadline(deadline)
	if _, _, err := exchange(conn, pingBytes); err != nil {
		return fmt.Errorf("connected, but it takes no part in the measurement: %s", reason(err))
	}
	if err := p.ping(conn, now); err != nil {
		return fmt.Errorf("round trips of 64 bytes: %s", reason(err))
	}
	if turn > 0 {
		if err := p.burst(conn, turn); err != nil {
			return fmt.Errorf("64 bytes pass, larger packets do not (MTU?): %s", reason(err))
		}
	}
	return write(conn, nil)
}

// ping measures the latency and the offset of the partner's clock.
func (p *Pair) ping(conn net.Conn, now func() time.Time) error {
	var took []time.Duration
	for range pingCount - 1 {
		conn.SetDeadline(time.Now().Add(answerTimeout))
		sent := now()
		trip, theirs, err := exchange(conn, pingBytes)
		if err != nil {
			return err
		}
		if len(took) == 0 || trip < slices.Min(took) {
			p.Ahead = float64(theirs-sent.UnixNano()-int64(trip/2)) / 1e9
		}
		took = append(took, trip)
	}
	slices.Sort(took)
	p.Latency = max(took[len(took)/2], time.Nanosecond).Seconds()
	return nil
}

// burst measures the bandwidth by bursts of growing size. The result is the rate of the largest
// burst; of several bursts of size maxBurst it is the best, which no other process has delayed. Small
// bursts do not count: they may fit into a shaper's burst, and end before a connection reaches its
// speed.
func (p *Pair) burst(conn net.Conn, turn time.Duration) error {
	began, largest := time.Now(), 0
	idle := time.Duration(p.Latency * float64(time.Second))
	for size := minBurst; ; size = min(4*size, maxBurst) {
		conn.SetDeadline(time.Now().Add(answerTimeout))
		took, _, err := exchange(conn, size)
		if err != nil {
			return err
		}
		rate := float64(size) / max(took-idle, took/4, time.Microsecond).Seconds()
		if size == maxBurst {
			largest++
		}
		if largest > 1 {
			rate = max(rate, p.Bandwidth)
		}
		p.Bandwidth = rate
		if largest == maxBursts || took >= turn/3 || time.Since(began) >= turn {
			return nil
		}
	}
}

// exchange sends zeros and returns the time until the partner has all of them, and its clock.
func exchange(conn net.Conn, size int) (took time.Duration, clock int64, err error) {
	message := binary.LittleEndian.AppendUint32(make([]byte, 0, headBytes+size), uint32(size))
	start := time.Now()
	if _, err := conn.Write(message[:headBytes+size]); err != nil {
		return 0, 0, err
	}
	var answer [8]byte
	_, err = io.ReadFull(conn, answer[:])
	return time.Since(start), int64(binary.LittleEndian.Uint64(answer[:])), err
}

// answer is the partner's part of measure. now is its clock.
func answer(conn net.Conn, deadline time.Time, now func() time.Time) error {
	conn.SetDeadline(deadline)
	for {
		size, err := length(conn, maxBurst)
		if err != nil || size == 0 {
			return err
		}
		if _, err := io.CopyN(io.Discard, conn, int64(size)); err != nil {
			return err
		}
		conn.SetDeadline(time.Now().Add(2 * answerTimeout)) // the measuring side times out first, since it knows the phase
		if _, err := conn.Write(binary.LittleEndian.AppendUint64(nil, uint64(now().UnixNano()))); err != nil {
			return err
		}
	}
}

// write sends a payload after its length.
func write(conn net.Conn, payload []byte) error {
	_, err := conn.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(payload))), payload...))
	return err
}

// length reads the length of a payload, which is not believed beyond most.
func length(conn net.Conn, most int) (int, error) {
	var head [headBytes]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if int64(n) > int64(most) {
		return 0, exitcode.With(exitcode.Protocol, fmt.Errorf("a message of %d bytes, want at most %d", n, most))
	}
	return int(n), nil
}

// send sends a report.
func send(conn net.Conn, report rankReport) error {
	text, err := json.Marshal(report)
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	return write(conn, text)
}

// receive receives a report.
func receive(conn net.Conn, report *rankReport) error {
	n, err := length(conn, maxText)
	if err != nil {
		return err
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(conn, text); err != nil {
		return err
	}
	return exitcode.With(exitcode.Protocol, json.Unmarshal(text, report))
}
