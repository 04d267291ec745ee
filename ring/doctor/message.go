package doctor

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"ringtrain/ring/exitcode"
)

// The kinds of messages; see the package comment.
const (
	kindBegin   = 'B'
	kindReady   = 'R'
	kindPing    = 'P'
	kindData    = 'D'
	kindFlush   = 'F'
	kindArrived = 'A'
	kindEnd     = 'E'
	kindReport  = 'S'
	kindRelay   = 'T'
	kindVerdict = 'V'
)

const (
	headBytes = 1 + 4
	pingBytes = 64
	dataBytes = 16 << 10
	textBytes = 1 << 20 // the longest report or verdict
)

// maxPayload returns the maximal payload of a kind, or -1 if the kind is unknown.
func maxPayload(kind byte) int {
	switch kind {
	case kindBegin, kindReady, kindFlush, kindArrived, kindEnd:
		return 0
	case kindPing:
		return pingBytes
	case kindData:
		return dataBytes
	case kindReport, kindRelay, kindVerdict:
		return textBytes
	}
	return -1
}

// peerConn is a connection with a buffer for one message in each direction.
type peerConn struct {
	net.Conn
	rank    int // of the other end
	out, in []byte
}

func newPeerConn(conn net.Conn, rank int) *peerConn {
	if conn == nil {
		return nil
	}
	room := headBytes + dataBytes
	return &peerConn{conn, rank, make([]byte, 0, room), make([]byte, room)}
}

// send sends a message with one write.
func (l *peerConn) send(kind byte, payload []byte) error {
	l.out = binary.LittleEndian.AppendUint32(append(l.out[:0], kind), uint32(len(payload)))
	l.out = append(l.out, payload...)
	_, err := l.Write(l.out)
	return err
}

// next returns the next message. The payload is valid until the next call.
func (l *peerConn) next() (kind byte, payload []byte, err error) {
	if _, err := io.ReadFull(l, l.in[:headBytes]); err != nil {
		return 0, nil, err
	}
	kind = l.in[0]
	n, most := binary.LittleEndian.Uint32(l.in[1:]), maxPayload(kind)
	if int64(n) > int64(most) {
		return 0, nil, exitcode.With(exitcode.Protocol, fmt.Errorf("message %q of %d bytes, want at most %d", kind, n, most))
	}
	if int(n) > len(l.in) {
		l.in = make([]byte, n)
	}
	_, err = io.ReadFull(l, l.in[:n])
	return kind, l.in[:n], err
}

// expect returns the payload of the next message, which must be of the given kind.
func (l *peerConn) expect(kind byte) ([]byte, error) {
	got, payload, err := l.next()
	if err == nil && got != kind {
		err = exitcode.With(exitcode.Protocol, fmt.Errorf("message %q, want %q", got, kind))
	}
	return payload, err
}
