package port

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"time"
)

// Question asks a port for its owner. The port sends one answer of at most MaxAnswerBytes and
// closes the connection.
const Question = "RTQ\x01"

// Bounds of an answer, in bytes.
const (
	MaxAnswerBytes = answerHead + maxJobID + crcBytes

	answerHead = 14 // bytes before the job id
	maxJobID   = 256
	crcBytes   = 4
	lenEnd     = 6 // offset from which the length counts
)

const magicAnswer = "RTA\x01"

// The kinds of owners.
const (
	ownerWorker     = 1
	ownerRendezvous = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Owner is the owner of a port: a worker, or a rendezvous without a worker.
type Owner struct {
	Rendezvous bool
	JobID      string // "": not known yet, or several jobs; an answer has at most 256 bytes of it
	Rank       int    // of the worker; -1: not known yet, or no worker
}

// askTimeout bounds the wait for an answer from a process on this host.
const askTimeout = 300 * time.Millisecond

// ask returns the owner of the port at addr. It returns false if there is no answer: the port
// belongs to another program, or to a stopped process.
func ask(addr string) (Owner, bool) {
	until := time.Now().Add(askTimeout)
	d := net.Dialer{Deadline: until}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		return Owner{}, false
	}
	defer c.Close()
	c.SetDeadline(until)
	if _, err := io.WriteString(c, Question); err != nil {
		return Owner{}, false
	}
	said, _ := io.ReadAll(io.LimitReader(c, MaxAnswerBytes+1))
	return ParseAnswer(said)
}

// appendAnswer appends the answer to [Question]; see ring/PROTOCOL.md.
func appendAnswer(dst []byte, o Owner) []byte {
	kind, job := uint16(ownerWorker), o.JobID[:min(len(o.JobID), maxJobID)]
	if o.Rendezvous {
		kind = ownerRendezvous
	}
	start := len(dst)
	dst = append(dst, magicAnswer...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(answerHead-lenEnd+len(job)+crcBytes))
	dst = binary.LittleEndian.AppendUint16(dst, kind)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(o.Rank)))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(job)))
	dst = append(dst, job...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// ParseAnswer parses all bytes of a connection to a port. It returns false unless they are one
// whole answer. The job id can be any bytes: any program may have sent it.
func ParseAnswer(b []byte) (o Owner, ok bool) {
	if len(b) < answerHead+crcBytes || len(b) > MaxAnswerBytes || string(b[:len(magicAnswer)]) != magicAnswer {
		return Owner{}, false
	}
	body := len(b) - crcBytes
	job := b[answerHead:body]
	kind, rank := binary.LittleEndian.Uint16(b[6:]), int32(binary.LittleEndian.Uint32(b[8:]))
	switch {
	case int(binary.LittleEndian.Uint16(b[4:])) != len(b)-lenEnd,
		int(binary.LittleEndian.Uint16(b[12:])) != len(job),
		kind != ownerWorker && kind != ownerRendezvous,
		rank < -1,
		crc32.Checksum(b[:body], castagnoli) != binary.LittleEndian.Uint32(b[body:]):
		return Owner{}, false
	}
	return Owner{Rendezvous: kind == ownerRendezvous, JobID: string(job), Rank: int(rank)}, true
}
