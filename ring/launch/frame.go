package launch

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"ringtrain/ring/exitcode"
)

// agentProtocol is the version of what a launcher and its agents say. Each
// change of a frame or a message makes it another.
const agentProtocol = 5

// agentMagic begins what an agent says. A login may print before it.
const agentMagic = "\nringtrain-agent\n"

// maxForeword bounds what a login may print before the magic.
const maxBanner = 64 << 10

// frame is what launcher and agents send each other. On the wire, integers in
// big-endian order:
//
//	┌──────┬──────┬──────┬──────────────┬─────────┐
//	│ kind │ host │ rank │ length       │ payload │
//	│ 1 B  │ 2 B  │ 2 B  │ 4 B          │         │
//	└──────┴──────┴──────┴──────────────┴─────────┘
//
// The host, by its index in the launcher's list, is the one that the frame is for,
// or from: agents on the way pass it on. In orders, and in the answer to those of
// another version, it is 0: so each version understands that the other is another.
type frame struct {
	kind       byte
	host, rank int // a host is less than hosts.MaxSlots, a rank than ring.MaxWorldSize
	payload    []byte
}

// The kinds of frames, to the agent and from it.
const (
	kindOrders = 'O' // orders, JSON; the first frame, and only that
	kindStart  = 'S' // order: start this rank, JSON
	kindSignal = 'K' // to the rank's process group; the payload is its number
	kindBeat   = 'B' // the launcher lives; for all hosts that it comes by
	kindPause  = 'P' // the launcher is about to be stopped, and says nothing until kindResume; for all hosts
	kindResume = 'G' // the launcher goes on; for all hosts
	kindAck    = 'T' // kindOut or kindErr, and how many bytes of that are passed on: 4 B

	kindAlive   = 'A' // the agent lives; for who has logged in to it
	kindSilent  = 'Q' // nothing is heard of a host below, JSON
	kindHello   = 'H' // hello, JSON; each host's first frame, and only that
	kindOut     = 'o' // what the rank wrote to standard output; empty: it has closed it
	kindErr     = 'e' // the same of standard error
	kindEnded   = 'X' // the rank's process ended, JSON
	kindCleared = 'C' // nothing of the rank is left, JSON
	kindFault   = 'F' // the rank could not be started, JSON
	kindRefused = 'R' // the host cannot log in to one below it, JSON
	kindLost    = 'L' // what led from the host to one below it is gone, JSON
)

const (
	frameHeader = 9
	maxPayload  = 1 << 20
)

// readFrame reads one frame. io.EOF is the end between two frames; all other
// errors are exitcode.Protocol or the reader's.
func readFrame(r io.Reader) (frame, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	host, rank, n := binary.BigEndian.Uint16(head[1:]), binary.BigEndian.Uint16(head[3:]), binary.BigEndian.Uint32(head[5:])
	if n > maxPayload {
		return frame{}, exitcode.With(exitcode.Protocol, fmt.Errorf("frame %q of rank %d with %d bytes, want at most %d", head[0], rank, n, maxPayload))
	}
	f := frame{kind: head[0], host: int(host), rank: int(rank), payload: make([]byte, n)}
	if _, err := io.ReadFull(r, f.payload); err != nil {
		return frame{}, fmt.Errorf("frame %q: %w", f.kind, noEOF(err))
	}
	return f, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decode reads a payload of JSON.
func (f frame) decode(into any) error {
	if err := json.Unmarshal(f.payload, into); err != nil {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("frame %q: %w", f.kind, err))
	}
	return nil
}

// frameOf makes a frame with a payload of JSON.
func frameOf(kind byte, host, rank int, v any) frame {
	payload, err := json.Marshal(v)
	if err != nil {
		panic("launch: message cannot be written as JSON")
	}
	return frame{kind, host, rank, payload}
}

// frameWriter writes frames, one at a time.
type frameWriter struct {
	wrote atomic.Bool // since it was last asked
	mu    sync.Mutex
	w     io.Writer
	buf   []byte
}

// forAll tells whether f is for all hosts that it comes by, and not for one.
func (f frame) isBroadcast() bool {
	return f.kind == kindBeat || f.kind == kindPause || f.kind == kindResume
}

func (w *frameWriter) send(f frame) error {
	if len(f.payload) > maxPayload {
		return exitcode.With(exitcode.NotRunnable, fmt.Errorf("frame %q of %d bytes, want at most %d", f.kind, len(f.payload), maxPayload))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf[:0], f.kind)
	w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(f.host))
	w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(f.rank))
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(len(f.payload)))
	w.buf = append(w.buf, f.payload...)
	_, err := w.w.Write(w.buf)
	w.wrote.Store(true)
	return err
}

var errNoAgent = errors.New("what was started there is not ringtrain's agent")

// skipForeword reads to the end of the magic.
func skipBanner(r *bufio.Reader) error {
	seen := make([]byte, 0, len(agentMagic))
	for range maxBanner {
		b, err := r.ReadByte()
		if err != nil {
			return err
		}
		if len(seen) == len(agentMagic) {
			seen = append(seen[:0], seen[1:]...)
		}
		if seen = append(seen, b); bytes.Equal(seen, []byte(agentMagic)) {
			return nil
		}
	}
	return errNoAgent
}
