package ring

import (
	"fmt"
	"io"
)

// broadcast copies root's stream to the other workers of the host, in pieces, by
// way of root's pages.
func (h *host) broadcast(root int, src io.Reader, dst io.Writer) error {
	n := h.g.notice()
	n.root = uint32(root)
	if h.local == root { // all ranks are on this host
		return h.sendStream(src, n)
	}
	w := pieceWriter{dst: dst}
	for {
		if err := h.meet(n); err != nil {
			return err
		}
		piece, err := h.pieceOf(root)
		if err != nil {
			return err
		}
		if w.take(piece) {
			return h.g.tookStream(root, piece, w.err)
		}
	}
}

// sendStream is the root's part.
func (h *host) sendStream(src io.Reader, n notice) error {
	for {
		own := h.page()
		piece, cause := readPiece(src, bytesOf(own.data[:]))
		own.said = uint64(len(piece))
		if err := h.meet(n); err != nil {
			return err
		}
		if cause != nil || piece[0] == streamLast {
			return h.g.sentStream(cause)
		}
	}
}

// pieceOf returns the piece on root's page. Its length is read once: root could
// change it after the check.
func (h *host) pieceOf(root int) ([]byte, error) {
	theirs := h.posted(root)
	said := theirs.said
	if said > pageBytes {
		return nil, h.blame(root, fmt.Errorf("%w: piece of %d bytes, want at most %d", ErrCorruptFrame, said, pageBytes))
	}
	piece := bytesOf(theirs.data[:])[:said]
	if err := checkPiece(piece); err != nil {
		return nil, h.blame(root, err)
	}
	return piece, nil
}
