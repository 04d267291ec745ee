package launch

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/wire"
	"ringtrain/ring/phrase"
)

// agentProtocol is the version of the protocol between launcher and agents. Each change of
// a frame or a message raises it.
const agentProtocol = 9

// agentMagic begins the output of an agent. A login may print text before it.
const agentMagic = "\nringtrain-agent\n"

// maxBanner bounds the text that a login may print before the magic.
const maxBanner = 64 << 10

// frame is what launcher and agents send to each other. On the wire, integers in big-endian
// order:
//
//	┌──────┬──────┬──────┬──────────────┬─────────┐
//	│ kind │ 0    │ rank │ length       │ payload │
//	│ 1 B  │ 2 B  │ 2 B  │ 4 B          │         │
//	└──────┴──────┴──────┴──────────────┴─────────┘
//
// All versions have this header, so that each understands that the other one differs.
type frame struct {
	kind    byte
	rank    int // less than ring.MaxWorldSize
	payload []byte
}

// The kinds of frames, to the agent and from it.
const (
	kindOrders = 'O' // orders, JSON; the first frame, and only that
	kindStart  = 'S' // order: start this rank, JSON
	kindSignal = 'K' // to the rank's process group; the payload is its number
	kindBeat   = 'B' // the launcher lives
	kindPause  = 'P' // the launcher is about to be stopped, and is silent until kindResume
	kindResume = 'G' // the launcher goes on
	kindInput  = 'I' // standard input of the rank; empty: its end
	kindAck    = 'T' // acknowledgement: kindOut or kindErr, and the number of written bytes, 4 B

	kindAlive   = 'A' // the agent lives
	kindHello   = 'H' // hello, JSON; the first frame, and only that
	kindMore    = 'i' // the rank has taken its input, and wants more
	kindOut     = 'o' // standard output of the rank; empty: the rank has closed it
	kindErr     = 'e' // standard error of the rank; empty: the rank has closed it
	kindEnded   = 'X' // the rank's process ended, JSON
	kindCleared = 'C' // no process of the rank is left, JSON
	kindFault   = 'F' // the rank could not be started, JSON
)

// allKinds are the kinds of frames that are known.
const allKinds = "OSKBPGITAHioeXCF"

const (
	frameHeader = 9
	maxPayload  = 1 << 20
)

// errNoFrame is the error of bytes that are no header. Text is none: its length would be too large.
var errNoFrame = exitcode.With(exitcode.Protocol, errors.New("no frame of an agent"))

// readFrame reads one frame. It returns io.EOF at the end between two frames. All other
// errors are exitcode.Protocol or the reader's. With errNoFrame the payload is the bytes.
func readFrame(r io.Reader) (frame, error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	rank, n := binary.BigEndian.Uint16(head[3:]), binary.BigEndian.Uint32(head[5:])
	if n > maxPayload || strings.IndexByte(allKinds, head[0]) < 0 || head[1] != 0 || head[2] != 0 {
		return frame{payload: head[:]}, errNoFrame
	}
	f := frame{kind: head[0], rank: int(rank), payload: make([]byte, n)}
	if _, err := io.ReadFull(r, f.payload); err != nil {
		return frame{}, fmt.Errorf("frame %q: %w", f.kind, wire.NoEOF(err))
	}
	return f, nil
}

// decode reads a payload of JSON.
func (f frame) decode(into any) error {
	if err := json.Unmarshal(f.payload, into); err != nil {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("frame %q: %w", f.kind, err))
	}
	return nil
}

// frameOf returns a frame with a payload of JSON.
func frameOf(kind byte, rank int, v any) frame {
	payload, err := json.Marshal(v)
	if err != nil {
		panic("launch: message cannot be written as JSON")
	}
	return frame{kind, rank, payload}
}

// frameWriter writes frames, one at a time.
type frameWriter struct {
	wrote atomic.Bool // a frame, since keepAlive has last looked
	mu    sync.Mutex
	w     io.Writer
	buf   []byte
}

// send writes f.
func (w *frameWriter) send(f frame) error {
	if len(f.payload) > maxPayload {
		return exitcode.With(exitcode.NotRunnable, fmt.Errorf("frame %q of %d bytes, want at most %d", f.kind, len(f.payload), maxPayload))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf[:0], f.kind, 0, 0)
	w.buf = binary.BigEndian.AppendUint16(w.buf, uint16(f.rank))
	w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(len(f.payload)))
	w.buf = append(w.buf, f.payload...)
	_, err := w.w.Write(w.buf)
	w.wrote.Store(true)
	return err
}

// readAgentFrame is readFrame for frames of an agent at host. What the host's shell prints on
// the same output is an error that shows the line.
func readAgentFrame(r *bufio.Reader, host string) (frame, error) {
	f, err := readFrame(r)
	if !errors.Is(err, errNoFrame) {
		return f, err
	}
	more, _ := r.Peek(r.Buffered()) // what has come with the header
	line, _, _ := strings.Cut(strings.TrimLeft(string(f.payload)+string(more), "\r\n"), "\n")
	return f, exitcode.With(exitcode.Protocol, fmt.Errorf("%s printed %s into the login: want no output behind the agent's start, of a start file of the shell or of --ssh",
		host, phrase.Quote(line)))
}

var errNoAgent = errors.New("what was started there is not ringtrain's agent")

// skipBanner reads to the end of the magic.
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
