package token

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Protocol is the version of the exchange, the frames and the control plane. Processes of different
// versions refuse each other with exitcode.Protocol.
const Protocol = 3

// The bounds of the texts of a message, in bytes. No longer message is read, so a stranger costs
// little.
const (
	FenceBytes    = 32
	MaxJobIDBytes = 256
	MaxDataBytes  = 256
	MaxTextBytes  = 512

	maxBodyBytes = 1 << 10
)

// Purpose is what a connection is for.
type Purpose uint8

// The purposes.
const (
	Control Purpose = 1 + iota // a worker at the rendezvous
	Status                     // a question for the state of the job
	Link                       // frames between two ranks
	Owner                      // a question for the owner of a port
	Memory                     // the memory that the ranks of a host share
)

func (p Purpose) String() string {
	if p < Control || p > Memory {
		return fmt.Sprintf("purpose %d", uint8(p))
	}
	return [...]string{"control", "status", "link", "owner", "memory"}[p-Control]
}

// End is one end of a connection: a worker, as far as the dialer knows.
type End struct {
	Rank        int32  // -1: not known, or no worker
	Incarnation uint64 // 0: not known
}

// Request is what a dialer says of itself, and of whom it wants. The acceptor trusts it after the
// proof.
type Request struct {
	Purpose  Purpose
	JobID    string // "": not known
	From, To End
	Fence    [FenceBytes]byte // of the generation, for purposes link and memory
	Stream   uint8            // number of the link between these ranks
	Data     []byte           // what else the purpose wants

	Protocol uint16 // the exchange sets it
}

var le = binary.LittleEndian

// errMalformed reports a message that this protocol has not.
var errMalformed = errors.New("a malformed message")

// body returns the bytes of r; see ring/PROTOCOL.md.
func (r *Request) body() ([]byte, error) {
	if len(r.JobID) > MaxJobIDBytes {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("job id has %d bytes, want at most %d", len(r.JobID), MaxJobIDBytes))
	}
	if len(r.Data) > MaxDataBytes {
		panic("token: a request with too much data")
	}
	b := le.AppendUint16(make([]byte, 0, maxBodyBytes), Protocol)
	b = append(b, byte(r.Purpose), r.Stream)
	for _, e := range []End{r.From, r.To} {
		b = le.AppendUint32(b, uint32(e.Rank))
		b = le.AppendUint64(b, e.Incarnation)
	}
	b = append(b, r.Fence[:]...)
	b = appendText(b, r.JobID)
	return appendText(b, string(r.Data)), nil
}

// requestBytes is the number of bytes of a request before its texts.
const requestBytes = 2 + 1 + 1 + 2*(4+8) + FenceBytes

// parseRequest parses the body of a request. Of another protocol it parses the version alone.
func parseRequest(b []byte) (r Request, err error) {
	if len(b) < 2 {
		return r, errMalformed
	}
	r.Protocol = le.Uint16(b)
	if r.Protocol != Protocol {
		return r, nil
	}
	if len(b) < requestBytes {
		return r, errMalformed
	}
	r.Purpose, r.Stream = Purpose(b[2]), b[3]
	r.From = End{int32(le.Uint32(b[4:])), le.Uint64(b[8:])}
	r.To = End{int32(le.Uint32(b[16:])), le.Uint64(b[20:])}
	r.Fence = [FenceBytes]byte(b[28:])
	job, rest, ok := cutText(b[requestBytes:], MaxJobIDBytes)
	data, rest, ok2 := cutText(rest, MaxDataBytes)
	if !ok || !ok2 || len(rest) > 0 {
		return r, errMalformed
	}
	r.JobID, r.Data = job, []byte(data)
	return r, nil
}

// Answer is what an acceptor says to a proved request.
type Answer struct {
	Status uint16 // exitcode.OK, or the exit code of a refusal
	Text   string // why the request is refused, for people
	Data   []byte // what the purpose answers
}

// Refuse returns the answer that refuses a request for the reason err. Without an exit code of its own
// it is exitcode.Retry.
func Refuse(err error) Answer {
	code := exitcode.Of(err)
	if code == exitcode.Failed {
		code = exitcode.Retry
	}
	return Answer{Status: uint16(code), Text: err.Error()}
}

// refusal returns the error that a is, nil if a accepts.
func (a Answer) refusal() error {
	if a.Status == exitcode.OK {
		return nil
	}
	return exitcode.With(int(a.Status), fmt.Errorf("refused: %s", a.Text))
}

func (a *Answer) body() []byte {
	if len(a.Data) > MaxDataBytes+MaxJobIDBytes {
		panic("token: an answer with too much data")
	}
	b := le.AppendUint16(make([]byte, 0, maxBodyBytes), a.Status)
	b = appendText(b, a.Text[:min(len(a.Text), MaxTextBytes-MaxJobIDBytes)])
	return appendText(b, string(a.Data))
}

// parseAnswer parses the body of an answer and makes its text printable.
func parseAnswer(b []byte) (a Answer, err error) {
	if len(b) < 2 {
		return a, errMalformed
	}
	a.Status = le.Uint16(b)
	text, rest, ok := cutText(b[2:], MaxTextBytes)
	data, rest, ok2 := cutText(rest, MaxDataBytes+MaxJobIDBytes)
	if !ok || !ok2 || len(rest) > 0 {
		return a, errMalformed
	}
	a.Text, a.Data = phrase.Foreign(text, MaxTextBytes), []byte(data)
	return a, nil
}

// appendText appends the length of s in two bytes, and s.
func appendText(dst []byte, s string) []byte {
	return append(le.AppendUint16(dst, uint16(len(s))), s...)
}

// cutText cuts a text of at most most bytes, with its length in front, from b.
func cutText(b []byte, most int) (text string, rest []byte, ok bool) {
	if len(b) < 2 {
		return "", nil, false
	}
	n := int(le.Uint16(b))
	if n > most || n > len(b)-2 {
		return "", nil, false
	}
	return string(b[2 : 2+n]), b[2+n:], true
}
