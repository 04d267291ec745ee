package cost

import "time"

// Coding is the model of a codec. Rates are in bytes of float32 per second on one
// core.
type Coding struct {
	Name   string
	Ratio  float64 // bytes of float32 per byte on the wire
	Encode float64 // with error feedback, if that is enabled
	Decode float64 // decoding with adding
}

// None is the exact coding. It encodes nothing and decodes at Rates.Add.
var None = Coding{Name: "none", Ratio: 1}

// Rates are the measurements.
type Rates struct {
	Bandwidth float64       // bytes/s that a rank sends while all send
	Latency   time.Duration // of a hop between hosts
	Sockets   float64       // bytes/s that a core passes through sockets, out and in at once; 0: they take no time
	TLS       float64       // bytes/s that a core encrypts and decrypts, out and in at once; 0: links are in clear
	Add       float64       // bytes of float32 per second on one core
	Memory    float64       // bytes of the buffer per second, for the sum within a host; 0: the sum takes no time
	SpareCore bool          // coding overlaps with sending
	Codings   []Coding      // the choices besides None, the safest first
}

// Layout is the number of senders: Hosts hosts, on each of which Local ranks share the work.
// Local is the number of ranks of the host with the fewest. A flat ring of p ranks is
// Layout{p, 1}, wherever the ranks are.
type Layout struct{ Hosts, Local int }

// Time is the predicted time of an all-reduce.
type Time struct {
	Wire  time.Duration // of sending, if nothing else took time
	CPU   time.Duration // on one core: encoding, decoding, adding
	Total time.Duration
}

// Predict returns the time of an all-reduce of n bytes of float32 by ring in the layout l with
// the coding c, by the formulas of the package comment. Where the Local ranks of a host share
// one wire, Bandwidth is their share of it.
//
// Rates must be 0 or more. At a rate of 0 the time is the maximum, 13 days. Predict panics if
// Hosts or Local is below 1 or n is below 0.
func Predict(r Rates, c Coding, n int64, l Layout) Time {
	l.check(n)
	t := Time{CPU: l.cpu(r, c, n)}
	if l.Hosts > 1 {
		wire := over(l.moved(n)/c.Ratio+l.headers(n), r.Bandwidth)
		t.Wire = l.ring(r, n, wire, work{})
		t.Total = l.ring(r, n, wire, work{t.CPU, r.throughSockets(l.moved(n) / c.Ratio)})
	}
	if l.Hosts == 1 {
		t.Total = l.within(r, n)
	}
	return t
}

func (l Layout) check(n int64) {
	if l.Hosts < 1 || l.Local < 1 || n < 0 {
		panic("cost: layout or size out of range")
	}
}

// work is the time of a core, and the part of it that is spent in sockets.
type work struct{ cpu, sockets time.Duration }

// ring returns the time in which hosts send for the time wire and work for w. It is the longer
// of the time that the wire and the core are busy and the way of one segment through all
// steps.
func (l Layout) ring(r Rates, n int64, wire time.Duration, w work) time.Duration {
	busy := wire + w.cpu
	if r.SpareCore {
		busy = max(wire, w.cpu)
	}
	k, steps := l.segments(n), l.steps()
	wire, w = wire/(k*steps), work{w.cpu / (k * steps), w.sockets / (k * steps)}
	// The work on a segment that follows its last byte: earlier bytes have passed the socket by then.
	after := w.cpu - w.sockets + min(w.sockets, r.throughSockets(pieceBytes))
	way := steps * max(r.dependent(wire, after), r.latency()+w.cpu)
	return min(max(busy+r.latency(), way), forever)
}

// dependent returns the time of a step that sends for the time wire after it has received and
// processed the step before, which takes work.
func (r Rates) dependent(wire, work time.Duration) time.Duration {
	return min(wire+r.latency()+work, forever)
}

// latency returns the latency of a hop, bounded so that sums do not overflow.
func (r Rates) latency() time.Duration { return min(r.Latency, forever) }

// Bandwidth is the inverse of Predict. It returns the bandwidth at which an all-reduce of n
// bytes without codec takes the time took. It ignores r.Bandwidth.
// Where the other parts explain nine tenths of the time or more, Bandwidth assigns a tenth to
// the wire, which was too fast to be seen.
func Bandwidth(r Rates, took time.Duration, n int64, l Layout) float64 {
	cpu := l.cpu(r, None, n)
	busy := took - r.latency()
	if !r.SpareCore {
		busy -= cpu
	}
	k := l.segments(n)
	way := max(took-over(float64(l.steps())*r.latency().Seconds(), 1), 0)
	if way < forever/k {
		busy = min(busy, way*k-cpu)
	}
	return (l.moved(n) + l.headers(n)) / max(busy, took/10, 1).Seconds()
}

// moved returns the number of bytes of float32 that a rank sends.
func (l Layout) moved(n int64) float64 {
	h := float64(l.Hosts)
	return 2 * (h - 1) / h * float64(n) / float64(l.Local)
}

const (
	segmentBytes = 512 << 10 // of float32 in a frame of the ring, as in ring.DefaultConfig
	headerBytes  = 36        // of a frame
	pieceBytes   = 64 << 10  // of a longer frame that arrive at once, at most
)

// segments returns the number of frames that a rank sends in a step of the ring.
func (l Layout) segments(n int64) time.Duration {
	chunk := (n/int64(l.Local) + int64(l.Hosts) - 1) / int64(l.Hosts)
	return time.Duration(max((chunk+segmentBytes-1)/segmentBytes, 1))
}

// steps returns the number of steps of the ring.
func (l Layout) steps() time.Duration { return 2 * time.Duration(l.Hosts-1) }

// headers returns the number of bytes of all frame headers.
func (l Layout) headers(n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(l.steps()*l.segments(n)) * headerBytes
}

// cpu returns the time on one core for sockets and coding between hosts, and for the sum within
// a host, which also proceeds segment by segment.
func (l Layout) cpu(r Rates, c Coding, n int64) time.Duration {
	if l.Hosts == 1 {
		return 0
	}
	all := r.throughSockets(l.moved(n)/c.Ratio) + l.within(r, n)
	if c == None {
		return min(all+over(l.moved(n)/2, r.Add), forever)
	}
	return min(all+over(float64(n)/float64(l.Local), c.Encode)+over(l.moved(n), c.Decode), forever)
}

// throughSockets returns the time on one core to send n bytes and to receive as many, encrypted with
// TLS.
func (r Rates) throughSockets(n float64) (d time.Duration) {
	for _, rate := range []float64{r.Sockets, r.TLS} {
		if rate > 0 {
			d = min(d+over(n, rate), forever)
		}
	}
	return d
}

// within returns the time of the sum within a host.
func (l Layout) within(r Rates, n int64) time.Duration {
	if l.Local == 1 || r.Memory == 0 {
		return 0
	}
	return over(float64(n), r.Memory)
}

// forever is the maximal time, some days. Sums of it do not overflow.
const forever = time.Duration(1 << 50)

// over returns the time of n bytes at a rate.
func over(n, rate float64) time.Duration {
	if n == 0 {
		return 0
	}
	if s := n / rate * float64(time.Second); s < float64(forever) {
		return time.Duration(s)
	}
	return forever
}
