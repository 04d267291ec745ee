package ring

import "fmt"

// allGather collects the bytes of all workers of the host, in pieces, by way of
// their exchange buffers.
func (h *host) allGather(mine []byte, dst *Gathered) error {
	for at, longest := 0, 1; at < longest; at += exchangeBytes {
		own := h.ownBuffer()
		own.length = uint64(len(mine))
		copy(bytesOf(own.data[:]), mine[min(at, len(mine)):])
		if err := h.agree(h.g.terms()); err != nil {
			return err
		}
		if at == 0 {
			var err error
			if longest, err = h.announced(dst); err != nil {
				return err
			}
		}
		for rank := range h.boards {
			end := min(dst.whole(rank), gatherPrefixBytes+at+exchangeBytes)
			blob := dst.extend(rank, max(end, len(dst.blobs[rank])))[gatherPrefixBytes:]
			copy(blob[min(at, len(blob)):], bytesOf(h.bufferOf(rank).data[:]))
		}
	}
	return nil
}

// announced notes how many bytes each worker has and returns how many the most
// are.
func (h *host) announced(dst *Gathered) (longest int, err error) {
	room := uint64(MaxGatheredBytes)
	for rank := range h.boards {
		n := h.bufferOf(rank).length
		if n > room {
			return 0, h.blame(rank, fmt.Errorf("%d bytes, want at most %d: the ranks before it have the rest of %d", n, room, MaxGatheredBytes))
		}
		room -= n
		longest = max(longest, int(n))
		dst.announce(rank, int(n))
	}
	return longest, nil
}
