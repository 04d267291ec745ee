package ring

import (
	"fmt"
	"io"
)

// broadcast copies root's stream to the other workers of the host, in pieces, by
// way of root's exchange buffer.
func (h *host) broadcast(root int, src io.Reader, dst io.Writer) error {
	t := h.g.terms()
	t.root = uint32(root)
	if h.local == root { // all ranks are on this host
		return h.sendStream(src, t)
	}
	w := pieceWriter{dst: dst}
	for {
		if err := h.agree(t); err != nil {
			return err
		}
		p, err := h.pieceOf(root)
		if err != nil {
			return err
		}
		if w.take(p) {
			return h.g.tookStream(root, p, w.err)
		}
	}
}

// sendStream is the root's part.
func (h *host) sendStream(src io.Reader, t terms) error {
	for {
		own := h.ownBuffer()
		payload, cause := readPiece(src, bytesOf(own.data[:]))
		own.length = uint64(len(payload))
		last := cause != nil || payload[0] == streamLast
		if err := h.agree(t); err != nil {
			return err
		}
		if last {
			return h.g.sentStream(cause)
		}
	}
}

// pieceOf returns the piece on root's exchange buffer. Its length and its first byte are read
// once: root could change them after the check.
func (h *host) pieceOf(root int) (piece, error) {
	theirs := h.bufferOf(root)
	said := theirs.length
	if said > exchangeBytes {
		return piece{}, h.blame(root, fmt.Errorf("%w: piece of %d bytes, want at most %d", ErrCorruptFrame, said, exchangeBytes))
	}
	p, err := pieceIn(bytesOf(theirs.data[:])[:said])
	if err != nil {
		return piece{}, h.blame(root, err)
	}
	return p, nil
}
