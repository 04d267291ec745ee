package handshake

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/token"
)

// The labels keep a proof of one side from serving as the other's.
const (
	acceptorLabel = "ringtrain link acceptor"
	dialerLabel   = "ringtrain link dialer"
)

// Conn is a fresh connection. Deadlines are its owner's business. Each message
// of the handshake is one Write.
type Conn = io.ReadWriter

// Peer is the worker at the other end of a connection, and which one it is of
// the connections that go the same way between the two.
type Peer struct {
	Rank   int
	Stream uint8
}

// Party is a worker that opens its links.
type Party struct {
	Membership ring.Membership
	Token      token.Token
}

// Check returns what makes a handshake impossible from the start, or nil.
func (p Party) Check() error {
	if n := len(p.Membership.JobID); n > MaxJobIDBytes {
		return exitcode.With(exitcode.Usage, fmt.Errorf("job id has %d bytes, want at most %d", n, MaxJobIDBytes))
	}
	return nil
}

// Dial does the dialer's part over rw, a fresh connection to what should be to.
//
// Another protocol version of an acceptor that has the token is exitcode.Protocol;
// to try that again is useless. Everything else may pass: a neighbour that is still
// of the last generation, and ErrUnproved.
func (p Party) Dial(rw Conn, to Peer) error {
	_, err := p.Redial(rw, to, delivery.Position{}, delivery.Position{})
	return err
}

// Redial is Dial for a connection in place of one that has broken. The dialer can
// repeat what it has sent from oldest on, and has sent nothing from newest on; the
// acceptor answers with where it goes on, between the two.
//
// ErrRefused means that the acceptor is there, and will not take this dialer back.
// ErrUnproved means that the acceptor was not reached.
func (p Party) Redial(rw Conn, to Peer, oldest, newest delivery.Position) (next delivery.Position, err error) {
	h := p.hello(p.Membership.Rank, to.Rank, to.Stream)
	h.next = oldest
	rand.Read(h.nonce[:]) // never fails
	msg := h.bytes()
	if _, err := rw.Write(msg); err != nil {
		return next, err
	}
	w, err := readWelcome(rw)
	if err != nil {
		return next, err
	}
	if !p.Token.Proves(w.proof[:], []byte(acceptorLabel), msg, w.nonce[:]) {
		return next, fmt.Errorf("%w: it has another token than this worker", ErrUnproved)
	}
	if w.status != exitcode.OK {
		return next, refused(int(w.status), w.reason)
	}
	if w.next.Before(oldest) || newest.Before(w.next) {
		return next, fmt.Errorf("it expects %v next, want %v to %v", w.next, oldest, newest)
	}
	proof := p.Token.Prove([]byte(dialerLabel), msg, w.nonce[:])
	_, err = rw.Write(proof[:])
	return w.next, err
}

var (
	// ErrRefused is the answer of an acceptor that has the token and does not want
	// the dialer.
	ErrRefused = errors.New("refused")

	// ErrUnproved is any answer of somebody who has not proved the token. Another
	// program has the address for now: that says nothing about the acceptor.
	ErrUnproved = errors.New("a stranger answers there")
)

// refused is a refusal whose reason came over the wire. Only the code that means
// something to a dialer is believed.
func refused(status int, reason string) error {
	err := fmt.Errorf("%w: %s", ErrRefused, reason)
	if status == exitcode.Protocol {
		return exitcode.With(status, err)
	}
	return err
}

// readWelcome reads the acceptor's answer. Bytes that are none are ErrUnproved.
func readWelcome(r io.Reader) (w welcome, err error) {
	answer, err := readMessage(r, welcomeMagic)
	if err == nil {
		w, err = parseWelcome(answer)
	}
	if errors.Is(err, errMalformed) {
		err = fmt.Errorf("%w: %w", ErrUnproved, err)
	}
	return w, err
}

// Accept does the acceptor's part over rw, a fresh connection from a stranger,
// and returns whom it is from. admit tells why this worker does not wait for
// such a peer, or nil: no other rank passes.
//
// An error says in which way the stranger is none of those waited for.
func (p Party) Accept(rw Conn, admit func(Peer) error) (Peer, error) {
	var from Peer
	err := p.Readmit(rw, func(peer Peer) (delivery.Position, error) {
		from = peer
		return delivery.Position{}, admit(peer)
	})
	return from, err
}

// Readmit is Accept for a connection in place of one that has broken. expect also
// returns where the stream goes on, which the peer is told; a peer that cannot
// repeat it from there is refused.
func (p Party) Readmit(rw Conn, expect func(Peer) (delivery.Position, error)) error {
	msg, err := readMessage(rw, helloMagic)
	if err != nil {
		return err
	}
	h, err := parseHello(msg)
	if err != nil {
		return err
	}
	next, wrong := p.refuses(&h, expect)
	w := welcome{status: uint16(exitcode.Of(wrong)), next: next}
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
		return errors.New("its proof of the token is wrong")
	}
	return nil
}

// hello returns what rank from says to rank to, without nonce.
func (p Party) hello(from, to int, stream uint8) hello {
	m := p.Membership
	return hello{
		version:    ring.ProtocolVersion,
		stream:     stream,
		from:       uint32(from),
		to:         uint32(to),
		generation: m.Generation,
		dialer:     m.Workers[from].Incarnation,
		acceptor:   m.Workers[to].Incarnation,
		jobID:      m.JobID,
	}
}

// refuses compares h with what somebody whom expect passes would say, and returns
// where the stream goes on, or the first difference with its exit code.
func (p Party) refuses(h *hello, expect func(Peer) (delivery.Position, error)) (next delivery.Position, err error) {
	if h.version != ring.ProtocolVersion {
		return next, exitcode.With(exitcode.Protocol, fmt.Errorf("protocol version is %d, want %d", h.version, ring.ProtocolVersion))
	}
	switch m := p.Membership; {
	case h.jobID != m.JobID:
		err = fmt.Errorf("job id is %q, want %q", h.jobID, m.JobID)
	case h.generation != m.Generation:
		err = fmt.Errorf("generation is %d, want %d", h.generation, m.Generation)
	case h.to != uint32(m.Rank):
		err = fmt.Errorf("this is rank %d, not rank %d", m.Rank, h.to)
	default:
		if next, err = expect(h.sender()); err == nil {
			err = p.differs(h, next)
		}
	}
	return next, exitcode.With(exitcode.Retry, err)
}

// differs compares h, of a rank that is in the membership, with what that rank
// would say to whom expects next.
func (p Party) differs(h *hello, next delivery.Position) error {
	switch want := p.hello(int(h.from), int(h.to), h.stream); {
	case h.acceptor != want.acceptor:
		return fmt.Errorf("incarnation of rank %d is %#x, want %#x", want.to, h.acceptor, want.acceptor)
	case h.dialer != want.dialer:
		return fmt.Errorf("incarnation of rank %d is %#x, want %#x", want.from, h.dialer, want.dialer)
	case next.Before(h.next):
		return fmt.Errorf("the next frame is %v, want %v", h.next, next)
	}
	return nil
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
