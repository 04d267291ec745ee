package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/wire"
)

// The labels keep the proof of one side from serving as the other's.
const (
	dialerLabel   = "ringtrain dialer"
	acceptorLabel = "ringtrain acceptor"
)

// Preamble begins a connection in clear. A nonce of each side follows it.
const Preamble = "RTL\x03"

const (
	proofBytes = sha256.Size
	nonceBytes = 32
)

// Timeout bounds the part of one side in an exchange.
const Timeout = 5 * time.Second

// The kinds of messages. Each begins with its kind and the length of its body in two bytes. A proof
// follows the body of a request and of an answer.
const (
	kindRequest    = 1
	kindAnswer     = 2
	kindOtherToken = 3 // the acceptor has another token; its body is the id
)

// A WrongTokenError reports that the other end has another token. It is not proved.
type WrongTokenError struct {
	Here, There ID
}

func (w *WrongTokenError) Error() string {
	return fmt.Sprintf("has another token (%v, here %v)", w.There, w.Here)
}

// Conn is a connection whose dialer has proved the token.
type Conn struct {
	net.Conn         // *tls.Conn, or the socket in clear
	Request  Request // of the dialer

	token   Token
	channel []byte // what the proofs are bound to
	asked   []byte // the body of the request
	socket  *net.Conn
}

// Secure reports whether c uses TLS.
func (c *Conn) Secure() bool {
	_, ok := c.Conn.(*tls.Conn)
	return ok
}

// Socket returns the connection below TLS, or the connection in clear.
func (c *Conn) Socket() net.Conn { return *c.socket }

// SetSocket replaces the connection below TLS, or the connection in clear. No byte was read ahead of
// the replaced one.
func (c *Conn) SetSocket(socket net.Conn) { *c.socket = socket }

// Answer answers the request, once. It is the acceptor's. After a refusal the caller closes c.
func (c *Conn) Answer(a Answer) error {
	body := a.body()
	proof := c.token.Prove([]byte(acceptorLabel), c.channel, c.asked, body)
	return c.write(kindAnswer, body, proof[:])
}

// DialTLS runs the dialer's part over the new connection socket, within ctx and [Timeout]. It returns
// the acceptor's answer. On an error it closes socket.
//
// The error of a proved refusal has its exit code, and that of a request with a too long job id has
// exitcode.Usage. The error is a *WrongTokenError if the acceptor has another token. Any other error says
// what the acceptor did instead of an answer; that is not proved, and another attempt may succeed.
func (t Token) DialTLS(ctx context.Context, socket net.Conn, r Request) (*Conn, Answer, error) {
	return t.dial(ctx, socket, r, newClient)
}

// DialClear is DialTLS without TLS: nothing is encrypted, and what follows the exchange is not
// authenticated.
func (t Token) DialClear(ctx context.Context, socket net.Conn, r Request) (*Conn, Answer, error) {
	return t.dial(ctx, socket, r, newClearClient)
}

// dial runs open, and the exchange over what it has opened.
func (t Token) dial(ctx context.Context, socket net.Conn, r Request, open func(net.Conn) (*Conn, error)) (c *Conn, a Answer, err error) {
	deadline := time.Now().Add(Timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	socket.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { socket.SetDeadline(time.Unix(1, 0)) })
	if c, err = open(socket); err == nil {
		c.token, c.Request = t, r
		if a, err = c.ask(); err == nil {
			err = a.refusal()
		}
	}
	if !stop() {
		err = context.Cause(ctx)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("no answer within %v: %w", Timeout, os.ErrDeadlineExceeded)
	}
	if err != nil {
		socket.Close()
		return nil, a, err
	}
	socket.SetDeadline(time.Time{})
	return c, a, nil
}

// ask sends the request and reads the answer.
func (c *Conn) ask() (a Answer, err error) {
	if c.asked, err = c.Request.body(); err != nil {
		return a, err
	}
	id := c.token.ID()
	proof := c.token.Prove([]byte(dialerLabel), c.channel, c.asked)
	if err := c.write(kindRequest, append(id[:], c.asked...), proof[:]); err != nil {
		return a, err
	}
	kind, body, proved, err := c.read()
	switch {
	case err != nil:
		return a, err
	case kind == kindOtherToken && len(body) == len(ID{}):
		return a, &WrongTokenError{Here: id, There: ID(body)}
	case kind != kindAnswer:
		return a, errMalformed
	case !c.token.Proves(proved, []byte(acceptorLabel), c.channel, c.asked, body):
		return a, errors.New("its proof of the token is wrong")
	}
	return parseAnswer(body)
}

// accept reads the request and checks its proof. The caller bounds the time.
func (c *Conn) accept(t Token) error {
	c.token = t
	kind, body, proof, err := c.read()
	if err != nil {
		return err
	}
	if kind != kindRequest || len(body) < len(ID{}) {
		return errMalformed
	}
	id := ID(body)
	c.asked = body[len(id):]
	if !t.Proves(proof, []byte(dialerLabel), c.channel, c.asked) {
		own := t.ID()
		if id == own {
			return errors.New("its proof of the token is wrong")
		}
		_ = c.write(kindOtherToken, own[:], nil) // the dialer may have gone
		return &WrongTokenError{Here: own, There: id}
	}
	if c.Request, err = parseRequest(c.asked); err != nil {
		return err
	}
	if v := c.Request.Protocol; v != Protocol {
		err := exitcode.With(exitcode.Protocol, fmt.Errorf("a ringtrain of protocol %d, here %d", v, Protocol))
		return errors.Join(err, c.Answer(Answer{Status: exitcode.Protocol, Text: fmt.Sprintf("a ringtrain of protocol %d, here %d", Protocol, v)}))
	}
	return nil
}

// write writes one message with one call of Write.
func (c *Conn) write(kind byte, body, proof []byte) error {
	msg := le.AppendUint16([]byte{kind}, uint16(len(body)))
	msg = append(append(msg, body...), proof...)
	_, err := c.Conn.Write(msg)
	return err
}

// read reads one message, and no byte after it.
func (c *Conn) read() (kind byte, body, proof []byte, err error) {
	var head [3]byte
	if _, err := io.ReadFull(c.Conn, head[:]); err != nil {
		return 0, nil, nil, wire.NoEOF(err)
	}
	n := int(le.Uint16(head[1:]))
	if n > maxBodyBytes {
		return 0, nil, nil, fmt.Errorf("%w of %d bytes, want at most %d", errMalformed, n, maxBodyBytes)
	}
	rest := make([]byte, n+proofBytes)
	if head[0] == kindOtherToken {
		rest = rest[:n]
	}
	if _, err := io.ReadFull(c.Conn, rest); err != nil {
		return 0, nil, nil, wire.NoEOF(err)
	}
	return head[0], rest[:n:n], rest[n:], nil
}

// newClearClient sends the preamble of a connection in clear, and reads the acceptor's nonce.
func newClearClient(socket net.Conn) (*Conn, error) {
	own := make([]byte, nonceBytes)
	rand.Read(own) // never fails
	if _, err := socket.Write(append([]byte(Preamble), own...)); err != nil {
		return nil, err
	}
	theirs := make([]byte, nonceBytes)
	if _, err := io.ReadFull(socket, theirs); err != nil {
		return nil, wire.NoEOF(err)
	}
	return newClear(socket, own, theirs), nil
}

// AcceptClear runs the acceptor's part over socket, whose dialer sends [Preamble] first. It returns
// when the request is proved; the caller sends the answer, and has set a deadline.
func (t Token) AcceptClear(socket net.Conn) (*Conn, error) {
	hello, own := make([]byte, len(Preamble)+nonceBytes), make([]byte, nonceBytes)
	if _, err := io.ReadFull(socket, hello); err != nil {
		return nil, wire.NoEOF(err)
	}
	if string(hello[:len(Preamble)]) != Preamble {
		return nil, Foreign(hello)
	}
	rand.Read(own)
	if _, err := socket.Write(own); err != nil {
		return nil, err
	}
	c := newClear(socket, hello[len(Preamble):], own)
	return c, c.accept(t)
}

// newClear returns a connection in clear. Both nonces make the channel, so a proof serves once.
func newClear(socket net.Conn, dialer, acceptor []byte) *Conn {
	channel := sha256.Sum256(append(dialer[:nonceBytes:nonceBytes], acceptor...))
	c := &Conn{Conn: socket, channel: channel[:]}
	c.socket = &c.Conn
	return c
}
