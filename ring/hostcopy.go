package ring

import (
	"fmt"
	"io"

	"ringtrain/ring/internal/vec"
)

// allGather collects the bytes of all workers of the host, in pieces, through their exchange
// buffers.
func (h *host) allGather(op *operation, mine []byte, dst *Gathered) error {
	dst.hold(len(h.boards))
	for at, longest := 0, 1; at < longest; at += exchangeBytes {
		own := h.ownBuffer()
		own.length = uint64(len(mine))
		copy(vec.Bytes(own.data[:]), mine[min(at, len(mine)):])
		if err := h.agree(op, op.terms()); err != nil {
			return err
		}
		if at == 0 {
			var err error
			if longest, err = h.announced(op, dst); err != nil {
				return err
			}
		}
		for rank := range h.boards {
			end := min(dst.whole(rank), gatherPrefixBytes+at+exchangeBytes)
			blob := dst.extend(rank, max(end, len(dst.blobs[rank])))[gatherPrefixBytes:]
			copy(blob[min(at, len(blob)):], vec.Bytes(h.bufferOf(rank).data[:]))
		}
	}
	return nil
}

// announced reads how many bytes each worker has and returns the largest number.
func (h *host) announced(op *operation, dst *Gathered) (longest int, err error) {
	room := uint64(MaxGatheredBytes)
	for rank := range h.boards {
		n := h.bufferOf(rank).length
		if n > room {
			return 0, h.blame(op, rank, fmt.Errorf("%d bytes, want at most %d: the ranks before it have the rest of %d", n, room, MaxGatheredBytes))
		}
		room -= n
		longest = max(longest, int(n))
		dst.announce(rank, int(n))
	}
	return longest, nil
}

// broadcast copies the stream of root to the other workers of the host, in pieces, through the
// exchange buffer of root.
func (h *host) broadcast(op *operation, root int, src io.Reader, dst io.Writer) error {
	t := op.terms()
	t.root = uint32(root)
	if h.local == root { // all ranks are on this host: ranks are local ranks
		return h.sendStream(op, src, t)
	}
	w := pieceWriter{dst: dst}
	for {
		if err := h.agree(op, t); err != nil {
			return err
		}
		p, err := h.pieceOf(op, root)
		if err != nil {
			return err
		}
		if w.take(p) {
			return op.tookStream(h.workers[root], p, w.err)
		}
	}
}

// sendStream is the part of root.
func (h *host) sendStream(op *operation, src io.Reader, t terms) error {
	for {
		own := h.ownBuffer()
		payload, cause := readPiece(src, vec.Bytes(own.data[:]))
		own.length = uint64(len(payload))
		last := cause != nil || payload[0] == streamLast
		if err := h.agree(op, t); err != nil {
			return err
		}
		if last {
			return op.sentStream(cause)
		}
	}
}

// pieceOf returns the piece in the exchange buffer of root. It reads the length and the first
// byte once: root could change them after the check.
func (h *host) pieceOf(op *operation, root int) (piece, error) {
	theirs := h.bufferOf(root)
	said := theirs.length
	if said > exchangeBytes {
		return piece{}, h.blame(op, root, fmt.Errorf("%w: piece of %d bytes, want at most %d", ErrCorruptFrame, said, exchangeBytes))
	}
	p, err := pieceIn(vec.Bytes(theirs.data[:])[:said])
	if err != nil {
		return piece{}, h.blame(op, root, err)
	}
	return p, nil
}
