package shmlink

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ringtrain/ring/internal/wire"
	"ringtrain/ring/token"
)

// The handshake of a connection, packet by packet. The name of the socket and both proofs
// cover the identity of the workers, which both sides know.
//
//	member ── magic │ local rank u32 │ cores 128 bytes │ nonce 32 ──► leader
//	member ◄── nonce 32 │ HMAC(token, "ringtrain memory leader" | host | first packet | leader's nonce) ── leader
//	member ── HMAC(token, "ringtrain memory member" | host | first packet | leader's nonce) ──► leader
const (
	leaderLabel = "ringtrain memory leader"
	memberLabel = "ringtrain memory member"

	nonceBytes = 32
	proofBytes = 32
	coresBytes = int(unsafe.Sizeof(unix.CPUSet{}))
	helloBytes = len(magic) + 4 + coresBytes + nonceBytes
)

// handshakeTimeout bounds the handshake of one connection.
const handshakeTimeout = 5 * time.Second

// expiredDeadline is a deadline in the past.
var expiredDeadline = time.Unix(1, 0)

// handshaker runs one side's part of handshakes.
type handshaker struct {
	host  host
	token token.Token
}

// cores is the set of cores that a worker may use.
type cores [coresBytes]byte

// ownCores returns the affinity of this process, or no cores if it is unknown.
func ownCores() cores {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return cores{}
	}
	return *(*cores)(unsafe.Pointer(&set))
}

// withLeader runs the member's part. An answer without a right proof does not come from the
// leader: any process of the host may have taken the name of the socket.
func (h handshaker) withLeader(c io.ReadWriter) error {
	hello := binary.LittleEndian.AppendUint32(magic[:], uint32(h.host.me))
	own := ownCores()
	hello = append(hello, own[:]...)
	hello = append(hello, make([]byte, nonceBytes)...)
	rand.Read(hello[helloBytes-nonceBytes:]) // never fails
	if _, err := c.Write(hello); err != nil {
		return err
	}
	answer, err := readPacket(c, nonceBytes+proofBytes)
	if err != nil {
		return err
	}
	nonce, proof := answer[:nonceBytes], answer[nonceBytes:]
	if !h.token.Proves(proof, []byte(leaderLabel), h.host.id[:], hello, nonce) {
		return errors.New("a stranger answers there: it has another token than this worker")
	}
	mine := h.token.Prove([]byte(memberLabel), h.host.id[:], hello, nonce)
	_, err = c.Write(mine[:])
	return err
}

// withMember runs the leader's part for a new connection and returns the local rank and the
// cores of the member at its other end.
func (h handshaker) withMember(c io.ReadWriter) (rank int, its cores, err error) {
	hello, err := readPacket(c, helloBytes)
	if err != nil {
		return 0, its, err
	}
	if [4]byte(hello) != magic {
		return 0, its, fmt.Errorf("begins with %q, want %q", hello[:4], magic)
	}
	r := binary.LittleEndian.Uint32(hello[4:])
	if r == leader || uint64(r) >= uint64(h.host.size()) {
		return 0, its, fmt.Errorf("local rank is %d, want 1 to %d", r, h.host.size()-1)
	}
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce)
	mine := h.token.Prove([]byte(leaderLabel), h.host.id[:], hello, nonce)
	if _, err := c.Write(append(nonce, mine[:]...)); err != nil {
		return 0, its, err
	}
	proof, err := readPacket(c, proofBytes)
	if err != nil {
		return 0, its, fmt.Errorf("no proof of the token: %w", err)
	}
	if !h.token.Proves(proof, []byte(memberLabel), h.host.id[:], hello, nonce[:nonceBytes]) {
		return 0, its, errors.New("its proof of the token is wrong")
	}
	return int(r), cores(hello[8:]), nil
}

// readPacket reads a packet of exactly n bytes.
func readPacket(c io.Reader, n int) ([]byte, error) {
	b := make([]byte, n+1)
	got, err := c.Read(b)
	if err != nil {
		return nil, wire.NoEOF(err)
	}
	if got != n {
		return nil, fmt.Errorf("packet of %d bytes or more, want %d", got, n)
	}
	return b[:n], nil
}

// withinTimeout runs one side's part of a handshake within handshakeTimeout and ctx.
func withinTimeout(ctx context.Context, c *net.UnixConn, part func() error) error {
	c.SetDeadline(time.Now().Add(handshakeTimeout))
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(expiredDeadline) })
	err := part()
	if !stop() {
		return context.Cause(ctx)
	}
	c.SetDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("no answer within %v: %w", handshakeTimeout, os.ErrDeadlineExceeded)
	}
	return err
}
