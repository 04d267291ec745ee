package join

import (
	"context"
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/pairwise"
)

// What the first ranks of two hosts send each other to measure their bandwidth:
// one byte, twice, for the time that an answer takes, then frames that grow until
// one takes long enough to know. The largest is sent several times, as long as it
// takes little: the best of them is one that no other process has held up.
const (
	probeEchoes      = 2
	probeFirstBytes  = 16 << 10 // bytes of the first frame; the next has four times as many
	probeMaxBytes    = 1 << 20
	probeMaxTries    = 8                      // of that size
	probeEnoughBytes = 256 << 10              // from this size on a frame may be the last
	probeEnoughTime  = 20 * time.Millisecond  // if it takes so long,
	probeTimeLimit   = 250 * time.Millisecond // or any of them, if all have taken so long
)

// A pair is a link between two workers that measure it, one way at a time.
type probe struct {
	link       ring.Link
	partner    ring.Worker
	generation uint64
	frames     uint32 // frames
	buf        []byte
}

// measure returns the bytes per second from here to the partner. Both call it; the
// one that is first sends first.
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

// fault names the pair, as for a link that could not be opened.
func (p *probe) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	w := p.partner
	return exitcode.With(exitcode.Retry, &ring.PeerError{
		Op: opDial, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: fmt.Errorf("measure the bandwidth: %w", err),
	})
}

// probe sends frames, each of which the partner answers, and an empty one last.
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

// burst returns how long a frame and its answer take.
func (p *probe) roundTrip(ctx context.Context, size int) (time.Duration, error) {
	start := time.Now()
	if err := p.sendFrame(ctx, size); err != nil {
		return 0, err
	}
	_, err := p.link.Recv(ctx, nil)
	return time.Since(start), err
}

// answer answers the partner's frames until it has no more.
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

// send sends a frame of so many bytes.
func (p *probe) sendFrame(ctx context.Context, size int) error {
	f := ring.Frame{Kind: ring.KindData, Generation: uint32(p.generation), Segment: p.frames, Payload: p.buf[:size]}
	p.frames++
	return p.link.Send(ctx, f)
}
