package shmlink

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"ringtrain/ring"
)

// leader is the local rank that the others connect to.
const leader = 0

// A host is the workers that share memory, seen from one of them.
type host struct {
	workers []ring.Worker // by local rank
	me      int           // this worker's local rank
	id      [sha256.Size]byte
}

// newHost picks the workers of m that are on the host of this one.
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
	b = le.AppendUint64(b, m.Generation)
	for _, w := range h.workers {
		b = le.AppendUint64(b, uint64(w.Rank))
		b = le.AppendUint64(b, w.Incarnation)
	}
	h.id = sha256.Sum256(b)
	return h
}

func (h host) size() int { return len(h.workers) }

// address is the abstract name of the socket where this host's workers meet.
func (h host) address() string { return "@ringtrain-" + hex.EncodeToString(h.id[:16]) }

// name says which worker local rank i is.
func (h host) name(i int) string {
	return fmt.Sprintf("rank %d (%s)", h.workers[i].Rank, h.workers[i].Host)
}

// worker returns i if that is a local rank, else -1: what a message says is not
// trusted.
func (h host) worker(i int32) int {
	if i < 0 || int(i) >= h.size() {
		return -1
	}
	return int(i)
}
