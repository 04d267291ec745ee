package handshake

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"ringtrain/ring"
)

// The sizes of the handshake.
const (
	NonceBytes      = 32
	ProofBytes      = 32
	MaxJobIDBytes   = 256
	MaxReasonBytes  = 512
	MaxMessageBytes = prefixBytes + welcomeFixedBytes + MaxReasonBytes + crcBytes // the longest message, a welcome

	prefixBytes       = 4 + 2 // magic, length of the rest
	crcBytes          = 4
	helloFixedBytes   = 2 + 1 + 1 + 4 + 4 + ring.FenceBytes + 8 + 8 + NonceBytes + 2
	welcomeFixedBytes = 2 + NonceBytes + ProofBytes + 2
)

var (
	helloMagic   = [4]byte{'R', 'T', 'L', ring.ProtocolVersion}
	welcomeMagic = [4]byte{'R', 'T', 'W', ring.ProtocolVersion}
	castagnoli   = crc32.MakeTable(crc32.Castagnoli)
)

// errMalformed reports bytes from a program that is no neighbour.
var errMalformed = errors.New("not the handshake of a link")

// hello is the first message. It names the dialer and the acceptor.
type hello struct {
	version  uint16
	stream   uint8
	from, to uint32 // ranks
	fence    ring.Fence
	dialer   uint64 // incarnation of from
	acceptor uint64 // incarnation of to, according to the membership
	nonce    [NonceBytes]byte
	jobID    string
}

// sender returns the peer that h claims to come from.
func (h *hello) sender() Peer { return Peer{int(h.from), h.stream} }

// bytes returns the encoded message.
func (h *hello) bytes() []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, MaxMessageBytes), helloMagic[:]...)
	b = le.AppendUint16(b, uint16(helloFixedBytes+len(h.jobID)+crcBytes))
	b = le.AppendUint16(b, h.version)
	b = append(b, h.stream, 0)
	b = le.AppendUint32(b, h.from)
	b = le.AppendUint32(b, h.to)
	b = h.fence.Append(b)
	b = le.AppendUint64(b, h.dialer)
	b = le.AppendUint64(b, h.acceptor)
	b = append(b, h.nonce[:]...)
	b = le.AppendUint16(b, uint16(len(h.jobID)))
	b = append(b, h.jobID...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// parseHello parses a whole message. If the protocol version differs, it parses the version
// only, since the other bytes may have another meaning.
func parseHello(b []byte) (hello, error) {
	var h hello
	body, err := open(b, helloMagic, 2)
	if err != nil {
		return h, err
	}
	le := binary.LittleEndian
	h.version = le.Uint16(body)
	if h.version != ring.ProtocolVersion {
		return h, nil
	}
	if len(body) < helloFixedBytes {
		return h, fmt.Errorf("%w: hello of %d bytes, want at least %d", errMalformed, len(body), helloFixedBytes)
	}
	if body[3] != 0 {
		return h, fmt.Errorf("%w: reserved byte is %d, want 0", errMalformed, body[3])
	}
	h.stream = body[2]
	h.from, h.to = le.Uint32(body[4:]), le.Uint32(body[8:])
	h.fence = ring.ParseFence(body[12:])
	h.dialer, h.acceptor = le.Uint64(body[44:]), le.Uint64(body[52:])
	h.nonce = [NonceBytes]byte(body[60:])
	h.jobID, err = text(body[helloFixedBytes-2:], MaxJobIDBytes)
	return h, err
}

// open checks magic, length and CRC of a message. It returns the least or more bytes between
// its prefix and its CRC.
func open(b []byte, magic [4]byte, least int) ([]byte, error) {
	le := binary.LittleEndian
	if len(b) < prefixBytes+least+crcBytes || len(b) > MaxMessageBytes {
		return nil, fmt.Errorf("%w: %d bytes", errMalformed, len(b))
	}
	if [4]byte(b) != magic {
		return nil, fmt.Errorf("%w: begins with %q, want %q", errMalformed, b[:4], magic)
	}
	if n := int(le.Uint16(b[4:])); n != len(b)-prefixBytes {
		return nil, fmt.Errorf("%w: length is %d, want %d", errMalformed, n, len(b)-prefixBytes)
	}
	end := len(b) - crcBytes
	if got, want := crc32.Checksum(b[:end], castagnoli), le.Uint32(b[end:]); got != want {
		return nil, fmt.Errorf("%w: crc32c is %#x, want %#x", errMalformed, got, want)
	}
	return b[prefixBytes:end], nil
}

// text parses a text with its u16 length, which must fill b.
func text(b []byte, most int) (string, error) {
	n := int(binary.LittleEndian.Uint16(b))
	if n != len(b)-2 || n > most {
		return "", fmt.Errorf("%w: text of %d bytes in %d, want at most %d", errMalformed, n, len(b)-2, most)
	}
	return string(b[2:]), nil
}
