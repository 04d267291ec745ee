package join

import (
	"context"
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/pairwise"
)

// Two first ranks of hosts measure their bandwidth in this way. One byte is sent twice, for
// the round-trip time. Then frames grow until one takes long enough for a measurement. The
// largest size is sent several times while this takes little time: the best time counts,
// for other processes may delay some.
const (
	probeEchoes      = 2
	probeFirstBytes  = 16 << 10 // bytes of the first frame; the next frames have four times as many each
	probeMaxBytes    = 1 << 20
	probeMaxTries    = 8                      // frames of probeMaxBytes
	probeEnoughBytes = 256 << 10              // a frame of this size may be the last one
	probeEnoughTime  = 20 * time.Millisecond  // if it takes this long
	probeTimeLimit   = 250 * time.Millisecond // bounds the time of all frames in one direction
)

// A probe is a link between two workers that measure its bandwidth, one direction at a
// time.
type probe struct {
	link       ring.Link
	partner    ring.Worker
	generation uint64
	frames     uint32 // frames
	buf        []byte
}

// measure returns the bytes per second from here to the partner. Both workers call it. The
// worker with first set sends first.
func (p *probe) measure(ctx context.Context, first bool) (rate float64, err error) {
	within, cancel := context.WithTimeoutCause(ctx, linkTimeout, fmt.Errorf("not measured within %v", linkTimeout))
	defer cancel()
	stop := context.AfterFunc(within, func() { p.link.Close() })
	defer stop()
	if p.buf == nil {
		p.buf = make([]byte, probeMaxBytes)
	}
	for _, mine := range []bool{first, !first} {
		if mine {
			rate, err = p.send(within)
		} else {
			err = p.receive(within)
		}
		if err != nil {
			return 0, p.fault(within, err)
		}
	}
	return rate, nil
}

// fault returns err as the error of a link that could not be opened.
func (p *probe) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	w := p.partner
	return exitcode.With(exitcode.Retry, &ring.PeerError{
		Op: opDial, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: fmt.Errorf("measure the bandwidth: %w", err),
	})
}

// send sends frames, each of which the partner answers, and an empty frame at the end. It
// returns the bandwidth.
func (p *probe) send(ctx context.Context) (rate float64, err error) {
	echo := probeTimeLimit
	for range probeEchoes {
		took, err := p.roundTrip(ctx, 1)
		if err != nil {
			return 0, err
		}
		echo = min(echo, took)
	}
	bursts := pairwise.Bursts{Least: probeFirstBytes, Most: probeMaxBytes, Idle: echo, Done: func(b pairwise.Burst) bool {
		known := b.Size >= probeEnoughBytes && b.Net >= probeEnoughTime || b.Largest > 0 && b.Elapsed >= probeEnoughTime
		return known || b.Largest == probeMaxTries || b.Elapsed > probeTimeLimit
	}}
	rate, err = bursts.Bandwidth(func(size int) (time.Duration, error) { return p.roundTrip(ctx, size) })
	if err != nil {
		return 0, err
	}
	return rate, p.sendFrame(ctx, 0)
}

// roundTrip returns the time between a frame of size bytes and its answer.
func (p *probe) roundTrip(ctx context.Context, size int) (time.Duration, error) {
	start := time.Now()
	if err := p.sendFrame(ctx, size); err != nil {
		return 0, err
	}
	_, err := p.link.Recv(ctx, nil)
	return time.Since(start), err
}

// receive answers the partner's frames until the empty frame.
func (p *probe) receive(ctx context.Context) error {
	for {
		f, err := p.link.Recv(ctx, p.buf)
		if err != nil || len(f.Payload) == 0 {
			return err
		}
		if err := p.sendFrame(ctx, 0); err != nil {
			return err
		}
	}
}

// sendFrame sends a frame of size bytes.
func (p *probe) sendFrame(ctx context.Context, size int) error {
	f := ring.Frame{Kind: ring.KindData, Generation: uint32(p.generation), Segment: p.frames, Payload: p.buf[:size]}
	p.frames++
	return p.link.Send(ctx, f)
}
