package port

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"time"
)

// Question is what to send to a port to learn whose it is. The port says it in
// one answer of at most MaxAnswerBytes and closes the connection.
const Question = "RTQ\x01"

// Bounds of an answer, in bytes.
const (
	MaxAnswerBytes = answerHead + maxJobID + crcBytes

	answerHead = 14 // what stands before the job id
	maxJobID   = 256
	crcBytes   = 4
	lenEnd     = 6 // the length counts the bytes after it
)

const magicAnswer = "RTA\x01"

// The kinds of owners.
const (
	ownerWorker     = 1
	ownerRendezvous = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Owner is whose a port is: a worker's, or that of a rendezvous without a worker.
type Owner struct {
	Rendezvous bool
	JobID      string // "": not known yet, or many jobs; at most 256 bytes are told
	Rank       int    // of the worker; -1: not known yet, or no worker
}

// askTime bounds the wait for an answer. Who is asked is on this host.
const askTime = 300 * time.Millisecond

// ask learns whose the port at addr is. It is not ok where nobody says so: it is
// another program's, or that of one that is stopped.
func ask(addr string) (Owner, bool) {
	until := time.Now().Add(askTime)
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

// appendAnswer appends the answer to [Question], as ring/PROTOCOL.md has it.
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

// ParseAnswer reads what came from a port up to the end of the connection. It is
// not ok unless that is one whole answer. The job id is any bytes: nothing proves
// who has sent it.
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
