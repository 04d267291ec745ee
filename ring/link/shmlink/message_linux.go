package shmlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"ringtrain/ring/phrase"
)

// message is what leader and members send each other while they set up memory. It is one
// packet, little-endian:
//
//	0       4      5        6       8               16      20            n
//	┌───────┬──────┬────────┬───────┬───────────────┬───────┬─────────────┐
//	│RTM\x01│ kind │ status │ 0 u16 │  number u64   │ rank  │ text ≤ 512  │
//	└───────┴──────┴────────┴───────┴───────────────┴───────┴─────────────┘
type message struct {
	kind   kind
	status status
	number uint64 // in request: region.count; in result: cores of all workers together
	rank   int32  // local rank of the worker that the status is about; -1: none
	text   string // the reason, unless status is good
}

// kind is the purpose of a message. The kinds of a round follow each other in this order.
type kind uint8

const (
	request kind = iota + 1 // member: wants memory of a size
	grant                   // leader: passes the descriptor
	mapped                  // member: has mapped the memory
	result                  // leader: all have mapped the memory
)

// status is the outcome of a step. A status other than good ends the round.
type status uint8

const (
	good        status = iota
	unavailable        // ErrUnavailable
	lost               // a worker has ended: exitcode.Retry
	differ             // the workers want different sizes: exitcode.Protocol
	lastStatus  = differ
)

const (
	fixedBytes   = 20
	maxTextBytes = 512
	maxBytes     = fixedBytes + maxTextBytes
)

var magic = [4]byte{'R', 'T', 'M', 1}

// errMalformed reports a packet that is no message.
var errMalformed = errors.New("not a message of a memory")

// append appends the packet to b. A text that is too long is cut.
func (m message) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, magic[:]...)
	b = append(b, byte(m.kind), byte(m.status), 0, 0)
	b = le.AppendUint64(b, m.number)
	b = le.AppendUint32(b, uint32(m.rank))
	return append(b, phrase.Clip(m.text, maxTextBytes)...)
}

// parse parses a whole packet and makes the text printable.
func parse(b []byte) (message, error) {
	if len(b) < fixedBytes || len(b) > maxBytes {
		return message{}, fmt.Errorf("%w: %d bytes", errMalformed, len(b))
	}
	if [4]byte(b) != magic {
		return message{}, fmt.Errorf("%w: begins with %q, want %q", errMalformed, b[:4], magic)
	}
	le := binary.LittleEndian
	m := message{
		kind: kind(b[4]), status: status(b[5]),
		number: le.Uint64(b[8:]), rank: int32(le.Uint32(b[16:])), text: phrase.Foreign(string(b[fixedBytes:]), maxTextBytes),
	}
	if m.kind < request || m.kind > result || m.status > lastStatus || b[6]|b[7] != 0 || m.number > math.MaxInt64 {
		return message{}, fmt.Errorf("%w: header is % x", errMalformed, b[:fixedBytes])
	}
	return m, nil
}

// receivedMessage is a message with the memory that came with it, or nil. The receiver
// closes the memory.
type receivedMessage struct {
	message
	memory *os.File
}

// drop closes the memory of a message that is not used.
func (r receivedMessage) drop() {
	if r.memory != nil {
		r.memory.Close()
	}
}

// packetReader is the receiving side of a socket: *net.UnixConn.
type packetReader interface {
	ReadMsgUnix(b, oob []byte) (n, oobn, flags int, from *net.UnixAddr, err error)
}

// receive waits for the next message. If the other side has closed the socket without
// reading all packets, the kernel reports ECONNRESET once before it returns the other
// side's packets.
func receive(c packetReader) (receivedMessage, error) {
	b := make([]byte, maxBytes+1)
	oob := make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := c.ReadMsgUnix(b, oob)
	if errors.Is(err, unix.ECONNRESET) {
		n, oobn, _, _, err = c.ReadMsgUnix(b, oob)
	}
	if err != nil {
		return receivedMessage{}, err
	}
	f := descriptor(oob[:oobn])
	m, err := parse(b[:n])
	if err != nil {
		receivedMessage{memory: f}.drop()
		return receivedMessage{}, err
	}
	return receivedMessage{m, f}, nil
}

// descriptor returns the file that came with a message, or nil. The kernel has opened at
// most as many descriptors as oob has room for.
func descriptor(oob []byte) *os.File {
	controls, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	var f *os.File
	for i := range controls {
		fds, err := unix.ParseUnixRights(&controls[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if f != nil {
				unix.Close(fd)
				continue
			}
			f = os.NewFile(uintptr(fd), "ringtrain memory")
		}
	}
	return f
}
