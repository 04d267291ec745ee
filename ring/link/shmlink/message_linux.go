package shmlink

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"
)

// A message is what leader and members say to each other while memory is
// shared. It is one packet, little-endian:
//
//	0       4      5        6       8               16      20            n
//	┌───────┬──────┬────────┬───────┬───────────────┬───────┬─────────────┐
//	│RTM\x01│ kind │ status │ 0 u16 │  number u64   │ rank  │ text ≤ 512  │
//	└───────┴──────┴────────┴───────┴───────────────┴───────┴─────────────┘
type message struct {
	kind   kind
	status status
	number uint64 // in want: room.count; in verdict: cores of all workers together
	rank   int32  // local rank of the worker that the status is about, -1: none
	text   string // what is wrong, unless status is good
}

// A kind says what a message is for. They follow each other in this order.
type kind uint8

const (
	want    kind = iota + 1 // member: I need memory of so many bytes
	grant                   // leader: here it is; a descriptor comes along
	mapped                  // member: I have it
	verdict                 // leader: all have it
)

// A status other than good ends the round.
type status uint8

const (
	good        status = iota
	unavailable        // ErrUnavailable
	lost               // a worker is gone: exitcode.Retry
	differ             // the workers want different things: exitcode.Protocol
	lastStatus  = differ
)

const (
	fixedBytes   = 20
	maxTextBytes = 512
	maxBytes     = fixedBytes + maxTextBytes
)

var magic = [4]byte{'R', 'T', 'M', 1}

// errMalformed is a packet that is no message.
var errMalformed = errors.New("not a message of a memory")

// append appends the packet to b; a text that is too long is cut.
func (m message) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, magic[:]...)
	b = append(b, byte(m.kind), byte(m.status), 0, 0)
	b = le.AppendUint64(b, m.number)
	b = le.AppendUint32(b, uint32(m.rank))
	return append(b, m.text[:min(len(m.text), maxTextBytes)]...)
}

// parse reads a whole packet. The text is made fit to print.
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
		number: le.Uint64(b[8:]), rank: int32(le.Uint32(b[16:])), text: printable(string(b[fixedBytes:])),
	}
	if m.kind < want || m.kind > verdict || m.status > lastStatus || b[6]|b[7] != 0 || m.number > math.MaxInt64 {
		return message{}, fmt.Errorf("%w: header is % x", errMalformed, b[:fixedBytes])
	}
	return m, nil
}

// printable keeps a peer's text from moving the cursor of a terminal or
// breaking a line of a log.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// A parcel is a message and the memory that came along, or nil. Who takes it
// closes the memory.
type parcel struct {
	message
	memory *os.File
}

// drop closes the memory that nobody takes.
func (p parcel) drop() {
	if p.memory != nil {
		p.memory.Close()
	}
}

// packets are what arrives on a socket: *net.UnixConn.
type packets interface {
	ReadMsgUnix(b, oob []byte) (n, oobn, flags int, from *net.UnixAddr, err error)
}

// receive waits for the next message. If the other side has closed the socket
// and not read all, the kernel says so before it hands out what that side said.
func receive(c packets) (parcel, error) {
	b := make([]byte, maxBytes+1)
	oob := make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := c.ReadMsgUnix(b, oob)
	if errors.Is(err, unix.ECONNRESET) {
		n, oobn, _, _, err = c.ReadMsgUnix(b, oob)
	}
	if err != nil {
		return parcel{}, err
	}
	f := descriptor(oob[:oobn])
	m, err := parse(b[:n])
	if err != nil {
		parcel{memory: f}.drop()
		return parcel{}, err
	}
	return parcel{m, f}, nil
}

// descriptor returns the file that came along with a message, or nil. The
// kernel has made at most as many as oob has room for.
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
