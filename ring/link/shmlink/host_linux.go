package shmlink

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/handshake"
)

// leader is the local rank to which the other workers connect.
const leader = 0

// host is the set of workers that share memory, as one of them sees it.
type host struct {
	workers []ring.Worker // by local rank
	me      int           // this worker's local rank
	id      [sha256.Size]byte
}

// newHost returns the workers of m that are on this worker's host.
func newHost(m ring.Membership) host {
	h := host{}
	h.me, _ = m.Local()
	for _, w := range m.Workers {
		if w.HostID == m.Self().HostID {
			h.workers = append(h.workers, w)
		}
	}
	le := binary.LittleEndian
	b := fmt.Appendf(nil, "ringtrain memory, protocol %d", ring.ProtocolVersion)
	b = le.AppendUint64(b, uint64(len(m.JobID)))
	b = append(b, m.JobID...)
	b = m.Fence().Append(b)
	for _, w := range h.workers {
		b = le.AppendUint64(b, uint64(w.Rank))
		b = le.AppendUint64(b, w.Incarnation)
	}
	h.id = sha256.Sum256(b)
	return h
}

func (h host) size() int { return len(h.workers) }

// address returns the abstract name of the leader's socket.
func (h host) address() string { return "@ringtrain-" + hex.EncodeToString(h.id[:16]) }

// name returns the rank and the host of local rank i, for messages.
func (h host) name(i int) string {
	return fmt.Sprintf("rank %d (%s)", h.workers[i].Rank, h.workers[i].Host)
}

// peer returns local rank i as the end of a connection.
func (h host) peer(i int) handshake.Peer { return handshake.Peer{Rank: h.workers[i].Rank} }

// worker returns i if i is a local rank, else -1. i comes from a message and is not trusted.
func (h host) worker(i int32) int {
	if i < 0 || int(i) >= h.size() {
		return -1
	}
	return int(i)
}
