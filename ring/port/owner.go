package port

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"ringtrain/ring/token"
)

// Owner is the owner of a port: a worker, or a rendezvous without a worker.
type Owner struct {
	Rendezvous  bool
	JobID       string // "": not known yet
	Rank        int    // of the worker; -1: not known yet, or no worker
	Incarnation uint64 // of the worker; 0: not known yet
	Follows     uint64 // instance of the rendezvous to which the worker is connected; 0: none
}

// Ask asks the port at the other end of c for its owner, within ctx. Only a process that has the token
// t answers. Ask closes c.
func Ask(ctx context.Context, c net.Conn, t token.Token) (Owner, error) {
	none := token.End{Rank: -1}
	conn, a, err := t.DialTLS(ctx, c, token.Request{Purpose: token.Owner, From: none, To: none})
	if err != nil {
		return Owner{}, err
	}
	conn.Close()
	return parseOwner(a.Data)
}

// appendOwner appends o; see ring/PROTOCOL.md.
func appendOwner(dst []byte, o Owner) []byte {
	le := binary.LittleEndian
	var kind byte
	if o.Rendezvous {
		kind = 1
	}
	dst = le.AppendUint32(append(dst, kind), uint32(int32(o.Rank)))
	dst = le.AppendUint64(dst, o.Incarnation)
	dst = le.AppendUint64(dst, o.Follows)
	return append(dst, o.JobID[:min(len(o.JobID), token.MaxJobIDBytes)]...)
}

// ownerBytes is the number of bytes of an owner before its job id.
const ownerBytes = 1 + 4 + 8 + 8

func parseOwner(b []byte) (Owner, error) {
	if len(b) < ownerBytes || b[0] > 1 {
		return Owner{}, errors.New("a malformed answer")
	}
	le := binary.LittleEndian
	return Owner{
		Rendezvous: b[0] == 1, Rank: int(int32(le.Uint32(b[1:]))), Incarnation: le.Uint64(b[5:]), Follows: le.Uint64(b[13:]),
		JobID: string(b[ownerBytes:]),
	}, nil
}

// sentence says why a port of o does not take a connection of the purpose.
func (o Owner) sentence(purpose token.Purpose) string {
	wanted := "a rendezvous"
	if purpose == token.Link {
		wanted = "a rank that forms its ring"
	}
	return fmt.Sprintf("is the port of %v, not of %s", o, wanted)
}

// String names o: `rank 3 of job "mnist"`.
func (o Owner) String() string {
	job := "a job"
	if o.JobID != "" {
		job = fmt.Sprintf("job %.*q", maxShown, o.JobID)
	}
	switch {
	case o.Rendezvous:
		return "the rendezvous of " + job
	case o.Rank < 0:
		return "a worker of " + job
	}
	return fmt.Sprintf("rank %d of %s", o.Rank, job)
}

// maxShown bounds the characters of a job id in a message.
const maxShown = 80
