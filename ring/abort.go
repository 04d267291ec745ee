package ring

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"ringtrain/ring/exitcode"
)

// An Abort is why a worker's group has ended in the middle of its work: what the worker tells both
// neighbours. Each passes it on, unchanged, so that all know the first cause.
type Abort struct {
	Rank int    // at fault, in the job; -1: nobody
	By   int    // the worker that says so
	Code int    // exit code; see heeded
	Text string // one line

	guess bool // by a timeout, or the end of a neighbour that has not said why; see isGuess
}

func (a *Abort) Error() string {
	if a.Rank == a.By || a.Rank < 0 {
		return fmt.Sprintf("rank %d has failed: %s", a.By, a.Text)
	}
	return fmt.Sprintf("rank %d says of rank %d: %s", a.By, a.Rank, a.Text)
}

// An AbortLink can tell its neighbours why it ends.
type AbortLink interface {
	Link

	// Abort is a Close that gives both neighbours a reason, which is an error of their Send and
	// Recv. It takes half a second at most to send the rest of a frame of which the neighbour has a
	// part: a neighbour that does not read is not told in that direction.
	Abort(why *Abort) error

	// OnAbort has the link call heard once a neighbour's Abort has come, also where nobody sends or
	// receives. heard runs on any goroutine and must not wait.
	OnAbort(heard func(*Abort))
}

// The payload of a KindAbort frame.
const (
	abortHeadBytes = 10 // rank, by, code
	maxAbortText   = 512

	// MaxAbortPayload is the longest.
	MaxAbortPayload = abortHeadBytes + maxAbortText
)

// AppendFrame appends the bytes of a's frame.
func (a *Abort) AppendFrame(dst []byte, generation uint32) []byte {
	start := len(dst)
	dst = a.appendPayload(append(dst, make([]byte, FrameHeaderBytes)...))
	f := Frame{Kind: KindAbort, Generation: generation, Payload: dst[start+FrameHeaderBytes:]}
	PutFrameHeader(dst[start:], &f, true)
	return dst
}

func (a *Abort) appendPayload(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(a.Rank))
	dst = le.AppendUint32(dst, uint32(a.By))
	dst = le.AppendUint16(dst, uint16(a.Code))
	return append(dst, a.Text[:min(len(a.Text), maxAbortText)]...)
}

// ParseAbort reads the payload of a frame of KindAbort with header h.
func ParseAbort(h *FrameHeader, payload []byte) (*Abort, error) {
	if err := h.Check(payload); err != nil {
		return nil, err
	}
	return parseAbort(payload)
}

func parseAbort(payload []byte) (*Abort, error) {
	if n := len(payload); n < abortHeadBytes || n > MaxAbortPayload {
		return nil, fmt.Errorf("%w: payload of %d bytes in an abort, want %d to %d", ErrCorruptFrame, n, abortHeadBytes, MaxAbortPayload)
	}
	le := binary.LittleEndian
	text := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, string(payload[abortHeadBytes:]))
	return &Abort{
		Rank: int(int32(le.Uint32(payload))), By: int(int32(le.Uint32(payload[4:]))), Code: int(le.Uint16(payload[8:])), Text: text,
	}, nil
}

// heeded is a as the error of an exchange. Others end with its exit code if that names a
// fault that would come again, as all ranks do whom the root of a broadcast tells: one word
// may overtake the other. After anything else they may be run again.
func (a *Abort) heeded() error {
	if a.Code > exitcode.Failed && a.Code < 128 {
		return exitcode.With(a.Code, a)
	}
	return exitcode.With(exitcode.Retry, a)
}

// hear has the watchdog end the group for what a neighbour says. It never waits.
func (g *Group) hear(a *Abort) {
	select {
	case g.told <- a:
	default: // the first word counts
	}
}

// abort returns what to tell the others at the end for a reason: nil for an end in good order.
func (g *Group) abort(why error) *Abort {
	if a, ok := errors.AsType[*Abort](why); ok {
		return a
	}
	g.mu.Lock()
	op := g.op
	g.mu.Unlock()
	self := g.members.Self().Rank
	switch {
	case why == ErrClosed && op.kind == 0:
		return nil
	case why == ErrClosed:
		return &Abort{Rank: self, By: self, Code: exitcode.Retry, Text: fmt.Sprintf("it has closed its group during %v %d", op.kind, op.seq)}
	}
	c := CauseOf(why, self, "", -1)
	if pe, ok := errors.AsType[*PeerError](why); ok && g.isContextEnd(pe.Err, op) {
		c = CauseOf(pe.Err, self, "", -1) // the neighbour that it waited for has done nothing
	}
	return &Abort{Rank: c.Rank, By: self, Code: c.ExitCode, Text: strings.TrimPrefix(c.Text, "ring: "), guess: isGuess(why)}
}

// isGuess reports whether others may know better why the group ends. All ranks run into their timeouts together, and each
// knows best for whom it waits; so does a neighbour that has closed its link in good order why it did. That is
// not told over links: who hears it would blame the wrong rank, and say no more whom it waits for itself.
func isGuess(why error) bool { return errors.Is(why, ErrTimeout) || errors.Is(why, io.EOF) }

// isContextEnd reports whether err is that a context has ended: the group's or that of an operation.
func (g *Group) isContextEnd(err error, op operation) bool {
	return g.ctx.Err() != nil && errors.Is(err, context.Cause(g.ctx)) || op.ctx != nil && op.ctx.Err() != nil && errors.Is(err, context.Cause(op.ctx))
}

// endTold ends the group for what a neighbour says. The cause of a context that has ended counts more, as in fail.
func (g *Group) endTold(a *Abort) {
	g.mu.Lock()
	op := g.op
	g.mu.Unlock()
	for _, ctx := range [...]context.Context{g.ctx, op.ctx} {
		if ctx != nil && ctx.Err() != nil {
			g.end(g.waitError(context.Cause(ctx)))
			return
		}
	}
	s, step := g.waiting()
	g.end(g.peerError(s, step, a))
}

// blamed returns the worker that a blames, or who says so if that is this one or nobody. Of one that is
// no worker of the group only the rank is known.
func (g *Group) blamed(a *Abort) Worker {
	rank := a.Rank
	if rank < 0 || rank == g.members.Self().Rank {
		rank = a.By
	}
	if w, ok := g.members.ranked(rank); ok {
		return w
	}
	return Worker{Rank: rank}
}
