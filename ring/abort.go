package ring

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Abort is the reason for which a worker's group ends in the middle of its work. The worker
// sends it to both neighbours. Each of them passes it on unchanged, so all workers learn the
// first cause.
type Abort struct {
	Rank int    // rank at fault, as in the job; -1: none
	By   int    // rank of the worker that reports it
	Code int    // exit code of that worker; see exchangeError
	Text string // reason, one line

	provisional bool // another worker may know the cause better; see isProvisional
}

// Error returns one line with the reporting rank, the rank at fault and the reason.
func (a *Abort) Error() string {
	if a.Rank == a.By || a.Rank < 0 {
		return fmt.Sprintf("rank %d has failed: %s", a.By, a.Text)
	}
	return fmt.Sprintf("rank %d says of rank %d: %s", a.By, a.Rank, a.Text)
}

// The payload of a frame of KindAbort.
const (
	abortHeadBytes = 10 // Rank, By and Code
	maxAbortText   = 512

	// MaxAbortPayload bounds the bytes of the payload.
	MaxAbortPayload = abortHeadBytes + maxAbortText
)

// AppendFrame appends a frame that carries a, with or without a CRC.
func (a *Abort) AppendFrame(dst []byte, generation uint32, crc bool) []byte {
	start := len(dst)
	dst = a.appendPayload(append(dst, make([]byte, FrameHeaderBytes)...))
	f := Frame{Kind: KindAbort, Generation: generation, Payload: dst[start+FrameHeaderBytes:]}
	PutFrameHeader(dst[start:], &f, crc)
	return dst
}

// appendPayload appends the payload of a frame that carries a. It cuts a long text.
func (a *Abort) appendPayload(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(a.Rank))
	dst = le.AppendUint32(dst, uint32(a.By))
	dst = le.AppendUint16(dst, uint16(a.Code))
	return append(dst, phrase.Clip(a.Text, maxAbortText)...)
}

// ParseAbort decodes the payload of a frame of KindAbort with header h. The
// text is a foreign one.
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
	return &Abort{
		Rank: int(int32(le.Uint32(payload))), By: int(int32(le.Uint32(payload[4:]))), Code: int(le.Uint16(payload[8:])),
		Text: phrase.Foreign(string(payload[abortHeadBytes:]), maxAbortText),
	}, nil
}

// exchangeError returns a as the error of an exchange. A code that names a fault which would
// come again stays: all ranks then end with the code that the root of a failed broadcast
// sends, whichever of the two arrives first. After any other code the job may be run again.
func (a *Abort) exchangeError() error {
	if a.Code > exitcode.Failed && a.Code < 128 {
		return exitcode.With(a.Code, a)
	}
	return exitcode.With(exitcode.Retry, a)
}

// receiveAbort passes a neighbour's Abort to the watchdog, which ends the group. It does not
// block. Only the first Abort counts.
func (g *Group) receiveAbort(a *Abort) {
	select {
	case g.aborts <- a:
	default:
	}
}

// abort returns the Abort that the neighbours get if the group ends for why. It returns nil
// for a Close between operations.
func (g *Group) abort(why error) *Abort {
	if a, ok := errors.AsType[*Abort](why); ok {
		return a
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	self := g.members.Self().Rank
	switch {
	case why == ErrClosed && g.op.kind == 0:
		return nil
	case why == ErrClosed:
		return &Abort{Rank: self, By: self, Code: exitcode.Retry, Text: fmt.Sprintf("it has closed its group during %v %d", g.op.kind, g.op.seq)}
	}
	c := CauseOf(why, self, "", -1)
	if pe, ok := errors.AsType[*PeerError](why); ok && isCauseOf(pe.Err, g.ctx, g.op.ctx) {
		c = CauseOf(pe.Err, self, "", -1) // this worker stopped waiting; the neighbour is not at fault
	}
	text := strings.ReplaceAll(strings.TrimPrefix(c.Text, "ring: "), "\n", " ")
	return &Abort{Rank: c.Rank, By: self, Code: c.ExitCode, Text: phrase.Foreign(text, maxAbortText), provisional: isProvisional(why)}
}

// isProvisional reports whether other workers may know the cause better. All ranks run into
// their timeouts at the same time, and each knows best for whom it waits. A neighbour that has
// closed its link in good order knows why. Links do not send such a cause: the receiver would
// blame the wrong rank and no longer report whom it waits for.
func isProvisional(why error) bool { return errors.Is(why, ErrTimeout) || errors.Is(why, io.EOF) }

// isCauseOf reports whether err is the cause of one of the contexts, which may be nil, and that
// context has ended.
func isCauseOf(err error, contexts ...context.Context) bool {
	for _, ctx := range contexts {
		if ctx != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return true
		}
	}
	return false
}

// endForAbort ends the group because of a neighbour's Abort. The cause of a context that has
// ended takes precedence, as in fail.
func (g *Group) endForAbort(a *Abort) {
	g.mu.Lock()
	running := g.op.ctx
	g.mu.Unlock()
	for _, ctx := range [...]context.Context{g.ctx, running} {
		if ctx != nil && ctx.Err() != nil {
			g.end(g.waitError(context.Cause(ctx)))
			return
		}
	}
	s, step := g.op.waiting()
	g.end(g.peerError(s, step, a))
}

// blamed returns the worker at fault: that of a.Rank, or that of a.By if a.Rank is none or this
// worker. Of a rank outside of the group only the number is known.
func (a *Abort) blamed(m Membership) Worker {
	rank := a.Rank
	if rank < 0 || rank == m.Self().Rank {
		rank = a.By
	}
	if w, ok := m.ranked(rank); ok {
		return w
	}
	return Worker{Rank: rank}
}
