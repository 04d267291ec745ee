package ring

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/vec"
	"ringtrain/ring/phrase"
)

// maxBroadcastText bounds the text of root's read error.
const maxBroadcastText = 512

// The first byte of a broadcast's payload gives its kind.
const (
	streamMore   = 0 // bytes of the stream, and more frames
	streamLast   = 1 // the last bytes of the stream
	streamFailed = 2 // u16 exit code and text: the root cannot read on
)

// Broadcast copies the stream that root reads from src to the dst of all other ranks. Only root
// uses src, and only the others use dst. root is a number in the group, as Membership.Rank is.
//
// The stream passes down the ring in frames. A rank passes a frame on before it writes it, so
// the time does not grow with the world size. On one host the stream goes through memory. A
// failed exchange is a *PeerError. If src fails, all ranks return an error that names root. If
// a dst fails, that rank passes on the whole stream and then returns the error. As after any
// error, the group is then of no further use.
func (g *Group) Broadcast(ctx context.Context, root int, src io.Reader, dst io.Writer) (err error) {
	m := g.members
	if root < 0 || root >= m.Size() {
		panic("ring: root is not a rank")
	}
	if err := g.begin(ctx, opBroadcast, 0); err != nil {
		return err
	}
	defer g.finish(&err)
	if m.Size() == 1 {
		return nil
	}
	if !g.overLinks() {
		return g.host.broadcast(&g.op, root, src, dst)
	}
	if err := g.agree(root); err != nil {
		return err
	}
	w := g.wire
	w.scratch = vec.Resize(w.scratch, g.config.frameBytes())
	w.start(&g.op, terms{kind: opBroadcast, root: uint32(root)}, nil, eager)
	if m.Rank == root {
		return w.finish(w.sendStream(src))
	}
	return w.finish(w.passStream(root, dst))
}

// A streamError is the failure of a stream's source or destination. The stream still goes to its
// end at the other ranks, so the links stay open: see Group.fail.
type streamError struct{ error }

// sendStream is the part of root.
func (w *wire) sendStream(src io.Reader) error {
	for {
		payload, cause := readPiece(src, w.scratch)
		w.frame.Payload = payload
		if err := w.send(0); err != nil {
			return err
		}
		if cause != nil || payload[0] == streamLast {
			return w.op.sentStream(cause)
		}
	}
}

// readPiece reads the next piece of the stream into buf, behind its first byte. cause is the
// error of src; the piece then carries it to the others.
func readPiece(src io.Reader, buf []byte) (payload []byte, cause error) {
	n, err := io.ReadFull(src, buf[1:])
	switch {
	case err == nil:
		buf[0] = streamMore
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		buf[0] = streamLast
	default:
		text := phrase.Clip(strings.ReplaceAll(err.Error(), "\n", " "), maxBroadcastText)
		payload = binary.LittleEndian.AppendUint16(append(buf[:0], streamFailed), uint16(exitcode.Of(err)))
		return append(payload, text...), err
	}
	return buf[:1+n], nil
}

// sentStream returns the error of root after its last piece.
func (op *operation) sentStream(cause error) error {
	if cause == nil {
		return nil
	}
	return streamError{fmt.Errorf("ring: broadcast %d: read: %w", op.seq, cause)}
}

// passStream is the part of the other ranks.
func (w *wire) passStream(root int, dst io.Writer) error {
	size := w.members.Size()
	step := mod(w.places.me-1-w.places.position[root], size)
	out := pieceWriter{dst: dst}
	for {
		f, err := w.receive(w.scratch, step)
		if err != nil {
			return err
		}
		p, err := pieceIn(f.Payload)
		if err != nil {
			return w.fail(left, step, err)
		}
		if step < size-2 { // the last one's right neighbour is root
			w.frame.Payload = f.Payload
			if err := w.send(step + 1); err != nil {
				return err
			}
		}
		if out.take(p) {
			return w.op.tookStream(w.members.Workers[root], p, out.err)
		}
	}
}

// A pieceWriter writes a stream until dst fails.
type pieceWriter struct {
	dst io.Writer
	err error // dst's
}

// take writes a piece and reports whether it is the last.
func (w *pieceWriter) take(p piece) (last bool) {
	if p.kind != streamFailed && w.err == nil && len(p.data) > 0 {
		_, w.err = w.dst.Write(p.data)
	}
	return p.kind != streamMore
}

// tookStream returns the error of a rank that has received the last piece.
func (op *operation) tookStream(root Worker, last piece, writeErr error) error {
	switch {
	case last.kind == streamFailed:
		return streamError{op.rootError(root, last.data)}
	case writeErr != nil:
		return streamError{fmt.Errorf("ring: broadcast %d: write: %w", op.seq, writeErr)}
	default:
		return nil
	}
}

// A piece is a payload of a broadcast with a checked first byte. It keeps a copy of that byte:
// another worker could change shared memory.
type piece struct {
	kind byte
	data []byte // what follows it
}

// pieceIn returns the piece in payload.
func pieceIn(payload []byte) (piece, error) {
	if len(payload) == 0 {
		return piece{}, fmt.Errorf("%w: payload of 0 bytes, want 1 or more", ErrCorruptFrame)
	}
	p := piece{payload[0], payload[1:]}
	switch {
	case p.kind > streamFailed:
		return p, fmt.Errorf("%w: stream byte is %d, want at most %d", ErrCorruptFrame, p.kind, streamFailed)
	case p.kind == streamFailed && (len(payload) < 3 || len(payload) > 3+maxBroadcastText):
		return p, fmt.Errorf("%w: payload of %d bytes, want 3 to %d", ErrCorruptFrame, len(payload), 3+maxBroadcastText)
	}
	return p, nil
}

// rootError returns the error that root sent in its last piece.
func (op *operation) rootError(root Worker, said []byte) error {
	code := int(binary.LittleEndian.Uint16(said))
	if code == exitcode.OK || code > 255 {
		code = exitcode.Failed
	}
	err := exitcode.With(code, errors.New(phrase.Foreign(string(said[2:]), maxBroadcastText)))
	return &PeerError{Op: opBroadcast.String(), Seq: op.seq, Rank: root.Rank, Host: root.Host, Addr: root.Addr, Err: err}
}
