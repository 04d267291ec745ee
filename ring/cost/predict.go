package cost

import (
	"math"
	"time"
)

// A Coding is what the model knows of a codec. Rates are in bytes of float32
// per second on one core.
type Coding struct {
	Name   string
	Ratio  float64 // bytes of float32 per byte on the wire
	Encode float64 // with error feedback, if that is on
	Decode float64 // decoding and adding
}

// None is the exact coding: nothing is encoded, and decoding is Rates.Add.
var None = Coding{Name: "none", Ratio: 1}

// Rates is what was measured.
type Rates struct {
	Bandwidth float64       // bytes/s that a rank sends with while all send
	Burst     float64       // bytes that the wire lets pass at once after a pause as long as they take: a shaper's; 0 of a plain wire
	Latency   time.Duration // of a hop between hosts
	Sockets   float64       // bytes/s that a core passes through sockets, out and in at once; 0: they take no time
	Add       float64       // bytes of float32 per second, on one core
	Memory    float64       // bytes of the buffer per second, for the sum within a host; 0: takes no time
	SpareCore bool          // coding runs beside sending
	Uneven    bool          // but not always: more ranks than cores take turns
	Codings   []Coding      // to choose from besides None, the safest first
}

// A Layout says who sends: Hosts hosts, on each of which Local ranks share the
// work (as many as the host with the fewest ranks has). Flat, one ring of p
// ranks is Layout{p, 1}, wherever they are.
type Layout struct{ Hosts, Local int }

// Time is what an all-reduce takes.
type Time struct {
	Wire  time.Duration // sending, if nothing else took time
	CPU   time.Duration // of one core: encoding, decoding, adding
	Total time.Duration
}

// Predict returns how long an all-reduce of n bytes of float32 by ring takes in
// the layout l with the coding c, after the formulas of the package comment. It
// holds for layouts that nobody has measured, as far as the rates do: where
// the Local ranks of a host share one wire, Bandwidth is their share of it.
//
// Rates must be 0 or more; at a rate of 0 it takes for ever, which is 13 days.
// Predict panics if Hosts or Local is below 1 or n below 0.
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

// work is the time of a core, and what of it bytes take through sockets.
type work struct{ cpu, sockets time.Duration }

// after is what of the work of one segment is left when its last byte has come:
// what came before has passed the socket by then.
func (w work) after(r Rates) time.Duration {
	return w.cpu - w.sockets + min(w.sockets, r.throughSockets(pieceBytes))
}

// ring is the time in which hosts send for so long and work for so long: the
// longer one of what keeps the wire and the core busy, and of the way of one
// segment through all steps.
func (l Layout) ring(r Rates, n int64, wire time.Duration, w work) time.Duration {
	busy := wire + w.cpu
	if r.SpareCore {
		busy = r.beside(wire, w.cpu)
	}
	k, steps := l.segments(n), l.steps()
	wire, w = wire/(k*steps), work{w.cpu / (k * steps), w.sockets / (k * steps)}
	way := steps * max(r.dependent(wire, w.after(r)), r.latency()+w.cpu)
	return min(max(busy+r.latency(), way), forever)
}

// dependent is the time of a step that sends for so long, once the step before
// has come and was worked on for so long. The wire rests meanwhile, and makes up
// for it with its burst.
func (r Rates) dependent(wire, work time.Duration) time.Duration {
	pause := r.latency() + work
	return min(wire+pause-min(pause, wire, over(r.Burst, r.Bandwidth)), forever)
}

// beside is the time of two things of which each goes on while the other does.
func (r Rates) beside(a, b time.Duration) time.Duration {
	if !r.Uneven {
		return max(a, b)
	}
	x, y := a.Seconds(), b.Seconds()
	return over(math.Sqrt(math.Hypot(x*x, y*y)), 1)
}

// latency of a hop, which is no longer than it can be counted for all.
func (r Rates) latency() time.Duration { return min(r.Latency, forever) }

// Bandwidth is the inverse of Predict: the bandwidth at which an all-reduce of
// n bytes without codec takes as long as it took, whatever r.Bandwidth is, on a
// wire without bursts.
// Where the other parts alone explain nine tenths of the time or more, the wire
// is given a tenth: it was too fast to be seen.
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

// moved is how many bytes of float32 a rank sends.
func (l Layout) moved(n int64) float64 {
	h := float64(l.Hosts)
	return 2 * (h - 1) / h * float64(n) / float64(l.Local)
}

const (
	segmentBytes = 512 << 10 // of float32 in a frame of the ring: that of ring.DefaultConfig
	headerBytes  = 40        // of a frame
	pieceBytes   = 64 << 10  // what of a longer frame comes at once, at most
)

// segments is how many frames a rank sends in a step of the ring.
func (l Layout) segments(n int64) time.Duration {
	chunk := (n/int64(l.Local) + int64(l.Hosts) - 1) / int64(l.Hosts)
	return time.Duration(max((chunk+segmentBytes-1)/segmentBytes, 1))
}

// steps of the ring.
func (l Layout) steps() time.Duration { return 2 * time.Duration(l.Hosts-1) }

// headers is how many bytes the frames have besides their payload.
func (l Layout) headers(n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(l.steps()*l.segments(n)) * headerBytes
}

// cpu is the time of one core that sockets and coding take between hosts, and
// the sum within a host, which goes on segment by segment too.
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

// throughSockets is the time of one core to send n bytes and to receive as many.
func (r Rates) throughSockets(n float64) time.Duration {
	if r.Sockets == 0 {
		return 0
	}
	return over(n, r.Sockets)
}

// within is the time of the sum within a host.
func (l Layout) within(r Rates, n int64) time.Duration {
	if l.Local == 1 || r.Memory == 0 {
		return 0
	}
	return over(float64(n), r.Memory)
}

// forever stands for what does not end in days: sums of it do not overflow.
const forever = time.Duration(1 << 50)

// over returns how long n bytes take at a rate.
func over(n, rate float64) time.Duration {
	if n == 0 {
		return 0
	}
	if s := n / rate * float64(time.Second); s < float64(forever) {
		return time.Duration(s)
	}
	return forever
}
