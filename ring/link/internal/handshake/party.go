package handshake

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// The labels keep a proof of one side from serving as the other's.
const (
	acceptorLabel = "ringtrain link acceptor"
	dialerLabel   = "ringtrain link dialer"
)

// Conn is a fresh connection. Deadlines are its owner's business. Each message
// of the handshake is one Write.
type Conn = io.ReadWriter

// Party is a worker that opens its links: it dials its right neighbour and
// accepts its left one.
type Party struct {
	Membership ring.Membership
	Token      ring.Token
}

// Check returns what makes a handshake impossible from the start, or nil.
func (p Party) Check() error {
	if n := len(p.Membership.JobID); n > MaxJobIDBytes {
		return exitcode.With(exitcode.Usage, fmt.Errorf("job id has %d bytes, want at most %d", n, MaxJobIDBytes))
	}
	return nil
}

// Dial does the dialer's part over rw, a fresh connection to what should be
// the right neighbour.
//
// A wrong token is exitcode.Auth, another protocol version exitcode.Protocol;
// to try these again is useless. Everything else may pass: a neighbour that is
// still of the last generation, another program that has just left its port.
func (p Party) Dial(rw Conn) error {
	h := p.hello()
	rand.Read(h.nonce[:]) // never fails
	msg := h.bytes()
	if _, err := rw.Write(msg); err != nil {
		return err
	}
	answer, err := readMessage(rw, welcomeMagic)
	if err != nil {
		return err
	}
	w, err := parseWelcome(answer)
	if err != nil {
		return err
	}
	if !p.Token.Proves(w.proof[:], []byte(acceptorLabel), msg, w.nonce[:]) {
		return exitcode.With(exitcode.Auth, errors.New("it has another token than this worker"))
	}
	if w.status != exitcode.OK {
		return refused(int(w.status), w.reason)
	}
	if w.next != h.next {
		return fmt.Errorf("it expects %v next, want %v", w.next, h.next)
	}
	proof := p.Token.Prove([]byte(dialerLabel), msg, w.nonce[:])
	_, err = rw.Write(proof[:])
	return err
}

// refused is a refusal whose reason came over the wire. Only the codes that
// mean something to a dialer are believed.
func refused(status int, reason string) error {
	err := fmt.Errorf("refused: %s", reason)
	if status == exitcode.Protocol || status == exitcode.Auth {
		return exitcode.With(status, err)
	}
	return err
}

// Accept does the acceptor's part over rw, a fresh connection from a stranger.
// An error says in which way the stranger is not the left neighbour.
func (p Party) Accept(rw Conn) error {
	msg, err := readMessage(rw, helloMagic)
	if err != nil {
		return err
	}
	h, err := parseHello(msg)
	if err != nil {
		return err
	}
	wrong := p.differs(&h)
	w := welcome{status: uint16(exitcode.Of(wrong))}
	if wrong != nil {
		w.reason = wrong.Error()
	}
	rand.Read(w.nonce[:])
	w.proof = p.Token.Prove([]byte(acceptorLabel), msg, w.nonce[:])
	if _, err := rw.Write(w.bytes()); err != nil {
		return err
	}
	if wrong != nil {
		return wrong
	}
	var proof [ProofBytes]byte
	if _, err := io.ReadFull(rw, proof[:]); err != nil {
		return fmt.Errorf("no proof of the token: %w", noEOF(err))
	}
	if !p.Token.Proves(proof[:], []byte(dialerLabel), msg, w.nonce[:]) {
		return exitcode.With(exitcode.Auth, errors.New("its proof of the token is wrong"))
	}
	return nil
}

// hello returns what p says to its right neighbour, without nonce.
func (p Party) hello() hello {
	self, right := p.Membership.Self(), p.Membership.Right()
	return hello{
		version:    ring.ProtocolVersion,
		from:       uint32(self.Rank),
		to:         uint32(right.Rank),
		generation: p.Membership.Generation,
		dialer:     self.Incarnation,
		acceptor:   right.Incarnation,
		jobID:      p.Membership.JobID,
	}
}

// differs compares h with what the left neighbour would say, and returns the
// first difference with its exit code.
func (p Party) differs(h *hello) error {
	if h.version != ring.ProtocolVersion {
		return exitcode.With(exitcode.Protocol, fmt.Errorf("protocol version is %d, want %d", h.version, ring.ProtocolVersion))
	}
	left := p
	left.Membership.Rank = p.Membership.Left().Rank
	want := left.hello()
	var err error
	switch {
	case h.jobID != want.jobID:
		err = fmt.Errorf("job id is %q, want %q", h.jobID, want.jobID)
	case h.generation != want.generation:
		err = fmt.Errorf("generation is %d, want %d", h.generation, want.generation)
	case h.to != want.to:
		err = fmt.Errorf("this is rank %d, not rank %d", want.to, h.to)
	case h.from != want.from:
		err = fmt.Errorf("from rank is %d, want %d", h.from, want.from)
	case h.acceptor != want.acceptor:
		err = fmt.Errorf("incarnation of rank %d is %#x, want %#x", want.to, h.acceptor, want.acceptor)
	case h.dialer != want.dialer:
		err = fmt.Errorf("incarnation of rank %d is %#x, want %#x", want.from, h.dialer, want.dialer)
	case h.stream != want.stream:
		err = fmt.Errorf("stream is %d, want %d", h.stream, want.stream)
	case h.next != want.next:
		err = fmt.Errorf("the next frame is %v, want %v", h.next, want.next)
	}
	return exitcode.With(exitcode.Retry, err)
}

// readMessage reads one message; its length is bounded before it is read, so
// that a stranger costs MaxMessageBytes at most.
func readMessage(r io.Reader, magic [4]byte) ([]byte, error) {
	b := make([]byte, prefixBytes, MaxMessageBytes)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, noEOF(err)
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
		return nil, noEOF(err)
	}
	return b, nil
}

// noEOF turns the end of a stream into an error: it never ends well here.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
