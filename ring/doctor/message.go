package doctor

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"ringtrain/ring/exitcode"
)

// The kinds of messages; doc.go has what they mean.
const (
	kindBegin   = 'B'
	kindReady   = 'R'
	kindPing    = 'P'
	kindData    = 'D'
	kindFlush   = 'F'
	kindArrived = 'A'
	kindEnd     = 'E'
	kindSheet   = 'S'
	kindPassOn  = 'T'
	kindVerdict = 'V'
)

const (
	headBytes = 1 + 4
	pingBytes = 64
	dataBytes = 16 << 10
	textBytes = 1 << 20 // the longest sheet or verdict
)

// longest is how long the payload of a kind may be; -1 if there is no such kind.
func longest(kind byte) int {
	switch kind {
	case kindBegin, kindReady, kindFlush, kindArrived, kindEnd:
		return 0
	case kindPing:
		return pingBytes
	case kindData:
		return dataBytes
	case kindSheet, kindPassOn, kindVerdict:
		return textBytes
	}
	return -1
}

// A line is a connection with room for one message in each direction.
type line struct {
	net.Conn
	rank    int // at the other end
	out, in []byte
}

func newLine(conn net.Conn, rank int) *line {
	if conn == nil {
		return nil
	}
	room := headBytes + dataBytes
	return &line{conn, rank, make([]byte, 0, room), make([]byte, room)}
}

// send sends a message in one write.
func (l *line) send(kind byte, payload []byte) error {
	l.out = binary.LittleEndian.AppendUint32(append(l.out[:0], kind), uint32(len(payload)))
	l.out = append(l.out, payload...)
	_, err := l.Write(l.out)
	return err
}

// next returns the next message. The payload is valid until the next call.
func (l *line) next() (kind byte, payload []byte, err error) {
	if _, err := io.ReadFull(l, l.in[:headBytes]); err != nil {
		return 0, nil, err
	}
	kind = l.in[0]
	n, most := binary.LittleEndian.Uint32(l.in[1:]), longest(kind)
	if int64(n) > int64(most) {
		return 0, nil, exitcode.With(exitcode.Protocol, fmt.Errorf("message %q of %d bytes, want at most %d", kind, n, most))
	}
	if int(n) > len(l.in) {
		l.in = make([]byte, n)
	}
	_, err = io.ReadFull(l, l.in[:n])
	return kind, l.in[:n], err
}

// want returns the payload of the next message, which must be of a kind.
func (l *line) want(kind byte) ([]byte, error) {
	got, payload, err := l.next()
	if err == nil && got != kind {
		err = exitcode.With(exitcode.Protocol, fmt.Errorf("message %q, want %q", got, kind))
	}
	return payload, err
}
