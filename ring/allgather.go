package ring

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"ringtrain/ring/internal/vec"
)

const (
	// MaxGatheredBytes bounds the bytes of all ranks in one AllGather.
	MaxGatheredBytes = 1 << 30

	gatherPrefixBytes = 8 // the length of a rank's bytes, before them
)

// Gathered is the result of AllGather. The next AllGather reuses its memory.
type Gathered struct {
	blobs [][]byte // by rank, each behind its prefix; what has come so far
}

// At returns rank's bytes, valid until the next AllGather into g.
func (g *Gathered) At(rank int) []byte { return g.blobs[rank][gatherPrefixBytes:] }

// announce sets the length of rank's bytes, of which none has arrived.
func (g *Gathered) announce(rank, n int) {
	g.blobs[rank] = vec.Resize(g.blobs[rank], gatherPrefixBytes)
	binary.LittleEndian.PutUint64(g.blobs[rank], uint64(n))
}

// whole returns the final length of rank's blob.
func (g *Gathered) whole(rank int) int {
	return gatherPrefixBytes + int(binary.LittleEndian.Uint64(g.blobs[rank]))
}

// extend returns the first n bytes of rank's blob and makes room for them. The length that a
// peer announces is not trusted: memory at most doubles with what arrives, up to the announced
// length.
func (g *Gathered) extend(rank, n int) []byte {
	blob := g.blobs[rank]
	if n > cap(blob) {
		blob = append(make([]byte, 0, min(g.whole(rank), max(n, 2*cap(blob)))), blob...)
	}
	g.blobs[rank] = blob[:n]
	return g.blobs[rank]
}

// AllGather collects the bytes of all ranks in dst, on every rank. Lengths may differ by rank.
// It allocates nothing once dst has grown.
//
// The bytes of a rank travel around the ring in p-1 hops, in frames that each rank passes on
// one by one. On one host they go through memory. AllGather returns a *PeerError if an exchange
// fails, and an error if all ranks together have more than MaxGatheredBytes.
func (g *Group) AllGather(ctx context.Context, mine []byte, dst *Gathered) (err error) {
	if err := g.begin(ctx, opAllGather, 0); err != nil {
		return err
	}
	defer g.finish(&err)
	if len(mine) > MaxGatheredBytes {
		return fmt.Errorf("ring: all-gather %d: %d bytes, want at most %d", g.op.seq, len(mine), MaxGatheredBytes)
	}
	switch {
	case g.members.Size() == 1:
	case !g.overLinks():
		return g.host.allGather(&g.op, mine, dst)
	default:
		if err := g.agree(0); err != nil {
			return err
		}
	}
	return g.wire.gather.around(g.wire, &g.op, mine, dst, terms{kind: opAllGather})
}

// hold makes room for the bytes of so many ranks.
func (g *Gathered) hold(ranks int) {
	for len(g.blobs) < ranks {
		g.blobs = append(g.blobs, make([]byte, gatherPrefixBytes))
	}
}

// around sends mine around the ring of w and collects the bytes of the other workers.
func (a *allGather) around(w *wire, op *operation, mine []byte, dst *Gathered, what terms) error {
	dst.hold(w.members.Size())
	rank := w.members.Rank
	dst.announce(rank, len(mine))
	blob := dst.extend(rank, dst.whole(rank))
	copy(blob[gatherPrefixBytes:], mine)
	if w.members.Size() == 1 {
		return nil
	}
	frame := w.config.frameBytes()
	a.dst, a.frame, a.total, a.step, a.from = dst, frame, len(blob)-gatherPrefixBytes, 0, 0
	w.scratch = vec.Resize(w.scratch, frame)
	mode := async
	if len(blob) <= min(frame, eagerBytes) {
		mode = eager
	}
	w.start(op, what, a, mode)
	if err := w.finish(a.run(w, (len(blob)+frame-1)/frame)); err != nil {
		return err // the sender may still use a
	}
	a.dst = nil
	return nil
}

// An allGather is the running all-gather. Step s sends the blob of the rank s positions to the
// left.
type allGather struct {
	at         places // of the wire
	dst        *Gathered
	growing    sync.Mutex // held to change dst.blobs, and by who sends to read it
	frame      int        // the longest payload
	total      int        // bytes known so far, of all ranks
	step, from int        // the next frame to send: of which blob, from which byte
}

// run sends this rank's blob, of own frames, and receives those of the others.
func (a *allGather) run(w *wire, own int) error {
	if err := w.push(own); err != nil {
		return err
	}
	last := w.members.Size() - 2
	for step := range last + 1 {
		if err := a.collect(w, a.rankAt(step+1), step, step < last); err != nil {
			return err
		}
	}
	return nil
}

// rankAt returns the rank that is so many positions to the left.
func (a *allGather) rankAt(back int) int {
	return a.at.worker[mod(a.at.me-back, len(a.at.worker))]
}

// collect receives the blob of rank and, with pass, passes it on.
func (a *allGather) collect(w *wire, rank, step int, pass bool) error {
	f, err := w.receive(w.scratch, step)
	if err != nil {
		return err
	}
	n, err := a.announced(f.Payload)
	if err != nil {
		return w.fail(left, step, err)
	}
	whole := gatherPrefixBytes + n
	a.dst.announce(rank, n)
	for at := copy(a.extend(rank, len(f.Payload)), f.Payload); ; at += len(f.Payload) {
		if pass {
			if err := w.push(1); err != nil {
				return err
			}
		}
		if at == whole {
			return nil
		}
		want := min(a.frame, whole-at)
		if f, err = w.receive(a.extend(rank, at+want)[at:], step); err != nil {
			return err
		}
		if len(f.Payload) != want {
			return w.fail(left, step, fmt.Errorf("%w: payload of %d bytes, want %d", ErrCorruptFrame, len(f.Payload), want))
		}
	}
}

// extend is Gathered.extend while another goroutine sends. A frame being sent keeps the memory
// that it was filled from, which does not change any more.
func (a *allGather) extend(rank, n int) []byte {
	a.growing.Lock()
	defer a.growing.Unlock()
	return a.dst.extend(rank, n)
}

// announced returns the length of the bytes that begin with payload, their first frame.
func (a *allGather) announced(payload []byte) (int, error) {
	if len(payload) < gatherPrefixBytes {
		return 0, fmt.Errorf("%w: payload of %d bytes, want %d or more", ErrCorruptFrame, len(payload), gatherPrefixBytes)
	}
	n := binary.LittleEndian.Uint64(payload)
	if room := MaxGatheredBytes - a.total; n > uint64(room) {
		return 0, fmt.Errorf("%w: %d more bytes than the %d so far, want at most %d in all", ErrCorruptFrame, n, a.total, MaxGatheredBytes)
	}
	if want := min(a.frame, gatherPrefixBytes+int(n)); len(payload) != want {
		return 0, fmt.Errorf("%w: payload of %d bytes, want %d", ErrCorruptFrame, len(payload), want)
	}
	a.total += int(n)
	return int(n), nil
}

// fill makes the next frame to send.
func (a *allGather) fill(f *Frame) int {
	step := a.step
	rank := a.rankAt(step)
	a.growing.Lock()
	blob, whole := a.dst.blobs[rank], a.dst.whole(rank)
	a.growing.Unlock()
	end := min(a.from+a.frame, whole)
	f.Payload, a.from = blob[a.from:end], end
	if end == whole {
		a.step, a.from = step+1, 0
	}
	return step
}
