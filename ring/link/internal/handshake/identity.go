package handshake

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/wire"
	"ringtrain/ring/token"
)

// The labels prevent the use of one side's proof as the other's.
const (
	acceptorLabel = "ringtrain link acceptor"
	dialerLabel   = "ringtrain link dialer"
)

// Conn is a new connection. Its owner sets deadlines. Each message of the handshake is one
// Write.
type Conn = io.ReadWriter

// Peer is the worker at the other end of a connection. Stream numbers the connections in the
// same direction between the two workers.
type Peer struct {
	Rank   int
	Stream uint8
}

// Identity is what a worker proves in a handshake.
type Identity struct {
	Membership ring.Membership
	Token      token.Token
}

// Check returns an error if no handshake with this identity can succeed.
func (i Identity) Check() error {
	if n := len(i.Membership.JobID); n > MaxJobIDBytes {
		return exitcode.With(exitcode.Usage, fmt.Errorf("job id has %d bytes, want at most %d", n, MaxJobIDBytes))
	}
	return nil
}

// Dial runs the dialer's part over rw, a new connection to the expected peer to.
//
// Another protocol version of an acceptor that has the token is exitcode.Protocol, and
// another attempt is useless. After any other error another attempt may succeed: the
// neighbour may still be in the last generation, or another program may use its address.
func (i Identity) Dial(rw Conn, to Peer) error {
	h := i.hello(i.Membership.Rank, to.Rank, to.Stream)
	rand.Read(h.nonce[:]) // never fails
	msg := h.bytes()
	if _, err := rw.Write(msg); err != nil {
		return err
	}
	w, err := readWelcome(rw)
	if err != nil {
		return err
	}
	if !i.Token.Proves(w.proof[:], []byte(acceptorLabel), msg, w.nonce[:]) {
		return fmt.Errorf("%w: it has another token than this worker", errUnproved)
	}
	if w.status != exitcode.OK {
		return refusalError(int(w.status), w.reason)
	}
	proof := i.Token.Prove([]byte(dialerLabel), msg, w.nonce[:])
	_, err = rw.Write(proof[:])
	return err
}

// errUnproved is an answer without a proof of the token. Another program uses the address at
// present, which says nothing about the acceptor.
var errUnproved = errors.New("a stranger answers there")

// refusalError returns a refusal with a reason from the wire. It keeps the status only if
// that is exitcode.Protocol, the only code that matters to a dialer.
func refusalError(status int, reason string) error {
	err := fmt.Errorf("refused: %s", reason)
	if status == exitcode.Protocol {
		return exitcode.With(status, err)
	}
	return err
}

// readWelcome reads the acceptor's answer. Malformed bytes are errUnproved.
func readWelcome(r io.Reader) (w welcome, err error) {
	answer, err := readMessage(r, welcomeMagic)
	if err == nil {
		w, err = parseWelcome(answer)
	}
	if errors.Is(err, errMalformed) {
		err = fmt.Errorf("%w: %w", errUnproved, err)
	}
	return w, err
}

// Accept runs the acceptor's part over rw, a new connection, and returns the peer at its other
// end. admit returns nil for an expected peer, else the reason to refuse it. No rank outside
// the membership may pass admit.
//
// The error says how the peer differs from an expected one.
func (i Identity) Accept(rw Conn, admit func(Peer) error) (from Peer, err error) {
	msg, err := readMessage(rw, helloMagic)
	if err != nil {
		return from, err
	}
	h, err := parseHello(msg)
	if err != nil {
		return from, err
	}
	wrong := i.check(&h, admit)
	w := welcome{status: uint16(exitcode.Of(wrong))}
	if wrong != nil {
		w.reason = wrong.Error()
	}
	rand.Read(w.nonce[:])
	w.proof = i.Token.Prove([]byte(acceptorLabel), msg, w.nonce[:])
	if _, err := rw.Write(w.bytes()); err != nil {
		return from, err
	}
	if wrong != nil {
		return from, wrong
	}
	var proof [ProofBytes]byte
	if _, err := io.ReadFull(rw, proof[:]); err != nil {
		return from, fmt.Errorf("no proof of the token: %w", wire.NoEOF(err))
	}
	if !i.Token.Proves(proof[:], []byte(dialerLabel), msg, w.nonce[:]) {
		return from, errors.New("its proof of the token is wrong")
	}
	return h.sender(), nil
}

// hello returns the hello of rank from to rank to, without a nonce.
func (i Identity) hello(from, to int, stream uint8) hello {
	m := i.Membership
	return hello{
		version:  ring.ProtocolVersion,
		stream:   stream,
		from:     uint32(from),
		to:       uint32(to),
		fence:    m.Fence(),
		dialer:   m.Workers[from].Incarnation,
		acceptor: m.Workers[to].Incarnation,
		jobID:    m.JobID,
	}
}

// check compares h with the hello of a peer that admit accepts. It returns the first
// difference with its exit code.
func (i Identity) check(h *hello, admit func(Peer) error) (err error) {
	if h.version != ring.ProtocolVersion {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("protocol version is %d, want %d", h.version, ring.ProtocolVersion))
	}
	m := i.Membership
	if h.jobID != m.JobID {
		err = fmt.Errorf("job id is %q, want %q", h.jobID, m.JobID)
	} else if err = h.fence.Difference(m.Fence()); err == nil {
		err = i.checkEnds(h, admit)
	}
	return exitcode.With(exitcode.Retry, err)
}

// checkEnds compares the ends of the connection of h with this worker and a peer that admit
// accepts.
func (i Identity) checkEnds(h *hello, admit func(Peer) error) error {
	if h.to != uint32(i.Membership.Rank) {
		return fmt.Errorf("this is rank %d, not rank %d", i.Membership.Rank, h.to)
	}
	if err := admit(h.sender()); err != nil {
		return err
	}
	switch want := i.hello(int(h.from), int(h.to), h.stream); {
	case h.acceptor != want.acceptor:
		return fmt.Errorf("incarnation of rank %d is %#x, want %#x", want.to, h.acceptor, want.acceptor)
	case h.dialer != want.dialer:
		return fmt.Errorf("incarnation of rank %d is %#x, want %#x", want.from, h.dialer, want.dialer)
	}
	return nil
}

// readMessage reads one message. It checks the length before it reads the rest, so a stranger
// costs at most MaxMessageBytes.
func readMessage(r io.Reader, magic [4]byte) ([]byte, error) {
	b := make([]byte, prefixBytes, MaxMessageBytes)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, wire.NoEOF(err)
	}
	if [4]byte(b) != magic {
		return nil, fmt.Errorf("%w: begins with %q, want %q", errMalformed, b[:4], magic)
	}
	n := int(binary.LittleEndian.Uint16(b[4:]))
	if n > MaxMessageBytes-prefixBytes {
		return nil, fmt.Errorf("%w: length is %d, want at most %d", errMalformed, n, MaxMessageBytes-prefixBytes)
	}
	b = b[:prefixBytes+n]
	if _, err := io.ReadFull(r, b[prefixBytes:]); err != nil {
		return nil, wire.NoEOF(err)
	}
	return b, nil
}
