package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"syscall"
	"time"

	"ringtrain/ring/internal/wire"
	"ringtrain/ring/phrase"
)

// The name under which TLS gives out the 32 bytes that belong to one connection alone (RFC 9266).
const channelBinding = "EXPORTER-Channel-Binding"

// Wire is the connection below TLS. The owner of the connection may replace Conn after the exchange.
type Wire struct{ net.Conn }

// Identity is the certificate of a process that accepts connections. TLS wants one. Nobody checks it:
// the proof of the token, which is bound to the channel, takes its place.
type Identity struct{ config *tls.Config }

// NewIdentity makes a key and signs its certificate.
func NewIdentity() (*Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key of this process: %w", err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(1<<36, 0)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("certificate of this process: %w", err)
	}
	c := baseConfig()
	c.Certificates = []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}
	return &Identity{c}, nil
}

// baseConfig returns what both sides want: TLS 1.3, no resumption, and records of full size from the
// first on.
func baseConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true}
}

// newClient runs the client's handshake over socket.
func newClient(socket net.Conn) (*Conn, error) {
	c := baseConfig()
	// The proof takes the certificate's place: who relays a connection has another channel, and cannot
	// prove the token over it.
	c.InsecureSkipVerify = true
	began := &recorder{Conn: socket}
	w := &Wire{began}
	conn, err := newSecure(tls.Client(w, c), w)
	w.Conn = socket
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return nil, Foreign(began.head)
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil, fmt.Errorf("closed the connection before a word: another program, or a ringtrain of protocol 2, here %d", Protocol)
	}
	return conn, err
}

// AcceptTLS runs the acceptor's part over socket. It returns when the request is proved; the caller
// sends the answer, and has set a deadline.
func (i *Identity) AcceptTLS(socket net.Conn, t Token) (*Conn, error) {
	w := &Wire{socket}
	c, err := newSecure(tls.Server(w, i.config), w)
	if err != nil {
		return nil, wire.NoEOF(err)
	}
	return c, c.accept(t)
}

// newSecure runs the handshake of conn, which lies over w.
func newSecure(conn *tls.Conn, w *Wire) (*Conn, error) {
	if err := conn.Handshake(); err != nil {
		return nil, err
	}
	state := conn.ConnectionState()
	channel, err := state.ExportKeyingMaterial(channelBinding, nil, 32)
	return &Conn{Conn: conn, channel: channel, socket: &w.Conn}, err
}

// Foreign returns who began a connection with head: another program, or a ringtrain of another
// version. The text is the program's own, and not proved.
func Foreign(head []byte) error {
	const link = len(Preamble) - 1
	if len(head) > link && string(head[:link]) == Preamble[:link] {
		return fmt.Errorf("a ringtrain of protocol %d, here %d", head[link], Protocol)
	}
	return fmt.Errorf("speaks no TLS: begins with %q", phrase.Foreign(string(head), maxShown))
}

// maxShown bounds the bytes of another program in a message.
const maxShown = 16

// recorder remembers the first bytes that it reads.
type recorder struct {
	net.Conn
	head []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	if room := maxShown - len(r.head); room > 0 {
		r.head = append(r.head, p[:min(n, room)]...)
	}
	return n, err
}
