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
	"ringtrain/ring/link/internal/delivery"
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
func (p Identity) Check() error {
	if n := len(p.Membership.JobID); n > MaxJobIDBytes {
		return exitcode.With(exitcode.Usage, fmt.Errorf("job id has %d bytes, want at most %d", n, MaxJobIDBytes))
	}
	return nil
}

// Dial runs the dialer's part over rw, a new connection to the expected peer to.
//
// Another protocol version of an acceptor that has the token is exitcode.Protocol, and
// another attempt is useless. After any other error another attempt may succeed: the
// neighbour may still be in the last generation, or ErrUnproved.
func (p Identity) Dial(rw Conn, to Peer) error {
	_, err := p.Redial(rw, to, delivery.Position{}, delivery.Position{})
	return err
}

// Redial is Dial for the replacement of a broken connection. The dialer can repeat the
// frames from oldest on and has sent none from newest on. The acceptor answers with the
// position between the two at which it continues.
//
// ErrRefused means that the acceptor does not take this dialer back. ErrUnproved means that
// the dialer did not reach the acceptor.
func (p Identity) Redial(rw Conn, to Peer, oldest, newest delivery.Position) (next delivery.Position, err error) {
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
		return next, refusalError(int(w.status), w.reason)
	}
	if w.next.Before(oldest) || newest.Before(w.next) {
		return next, fmt.Errorf("it expects %v next, want %v to %v", w.next, oldest, newest)
	}
	proof := p.Token.Prove([]byte(dialerLabel), msg, w.nonce[:])
	_, err = rw.Write(proof[:])
	return w.next, err
}

var (
	// ErrRefused is the refusal of an acceptor that has proved the token.
	ErrRefused = errors.New("refused")

	// ErrUnproved is an answer without a proof of the token. Another program uses the
	// address at present, which says nothing about the acceptor.
	ErrUnproved = errors.New("a stranger answers there")
)

// refusalError returns a refusal with a reason from the wire. It keeps the status only if
// that is exitcode.Protocol, the only code that matters to a dialer.
func refusalError(status int, reason string) error {
	err := fmt.Errorf("%w: %s", ErrRefused, reason)
	if status == exitcode.Protocol {
		return exitcode.With(status, err)
	}
	return err
}

// readWelcome reads the acceptor's answer. Malformed bytes are ErrUnproved.
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

// Accept runs the acceptor's part over rw, a new connection, and returns the peer at its other
// end. admit returns nil for an expected peer, else the reason to refuse it. No rank outside
// the membership may pass admit.
//
// The error says how the peer differs from an expected one.
func (p Identity) Accept(rw Conn, admit func(Peer) error) (Peer, error) {
	var from Peer
	err := p.Readmit(rw, func(peer Peer) (delivery.Position, error) {
		from = peer
		return delivery.Position{}, admit(peer)
	})
	return from, err
}

// Readmit is Accept for the replacement of a broken connection. expect also returns the
// position at which the stream continues, which the peer is told. A peer that cannot repeat
// the frames from there is refused.
func (p Identity) Readmit(rw Conn, expect func(Peer) (delivery.Position, error)) error {
	msg, err := readMessage(rw, helloMagic)
	if err != nil {
		return err
	}
	h, err := parseHello(msg)
	if err != nil {
		return err
	}
	next, wrong := p.check(&h, expect)
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
		return fmt.Errorf("no proof of the token: %w", wire.NoEOF(err))
	}
	if !p.Token.Proves(proof[:], []byte(dialerLabel), msg, w.nonce[:]) {
		return errors.New("its proof of the token is wrong")
	}
	return nil
}

// hello returns the hello of rank from to rank to, without a nonce.
func (p Identity) hello(from, to int, stream uint8) hello {
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

// check compares h with the hello of a peer that expect accepts. It returns the position at
// which the stream continues, or the first difference with its exit code.
func (p Identity) check(h *hello, expect func(Peer) (delivery.Position, error)) (next delivery.Position, err error) {
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
			err = p.checkHello(h, next)
		}
	}
	return next, exitcode.With(exitcode.Retry, err)
}

// checkHello compares h with the hello of that rank, which is in the membership. next is the
// position that the acceptor expects.
func (p Identity) checkHello(h *hello, next delivery.Position) error {
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
