package rendezvous

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// Limits of a connection.
const (
	nonceBytes       = 32
	handshakeTimeout = 5 * time.Second
)

// Each side proves the token over both nonces and the role of the side.
func workerProof(t token.Token, worker, server []byte) []byte {
	p := t.Prove([]byte("rendezvous: worker"), worker, server)
	return p[:]
}

func serverProof(t token.Token, worker, server []byte) []byte {
	p := t.Prove([]byte("rendezvous: server"), worker, server)
	return p[:]
}

func newNonce() []byte {
	b := make([]byte, nonceBytes)
	rand.Read(b) // crypto/rand.Read returns no error
	return b
}

// unreachedError is the reason why an attempt did not reach the rendezvous. Another attempt may. A
// server that has not proved the token ends no worker: stale DNS, a reused address or another
// program may answer while the rendezvous is restarted.
type unreachedError struct {
	reason     string
	wrongToken bool // a server with another token answered
	refused    bool // the host is up, and nobody listens
}

func (u unreachedError) Error() string { return u.reason }

// connection is an open stream to a rendezvous that has proved the token.
type connection struct {
	raw    net.Conn
	conn   *grpc.ClientConn
	stream grpc.BidiStreamingClient[pb.WorkerMessage, pb.RendezvousMessage]
	cancel context.CancelFunc
	proof  []byte        // the worker's proof, for the join
	lease  time.Duration // lease and instance are those of the challenge

	instance uint64

	received chan struct{} // closed when nothing more is received
}

// connect makes one attempt to reach the rendezvous. Its error is an unreachedError.
func connect(ctx context.Context, o *Options) (*connection, error) {
	dial := o.dial
	if dial == nil {
		dial = dialTCP
	}
	raw, err := dial(ctx, o.Addr)
	if err != nil {
		return nil, unreachedError{reason: Reason(err), refused: errors.Is(err, syscall.ECONNREFUSED)}
	}
	c := &connection{raw: raw, received: make(chan struct{})}
	if c.conn, err = grpc.NewClient("passthrough:///"+o.Addr, dialOptions(raw)...); err != nil {
		raw.Close()
		return nil, unreachedError{reason: err.Error()}
	}
	var streamCtx context.Context // of the stream, which outlives ctx
	streamCtx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, c.cancel)()
	defer time.AfterFunc(handshakeTimeout, c.cancel).Stop()
	if c.stream, err = pb.NewRendezvousClient(c.conn).Meet(streamCtx); err == nil {
		err = c.authenticate(o)
	}
	if err == nil {
		return c, nil
	}
	c.close()
	if errors.Is(err, errWrongToken) {
		return nil, unreachedError{fmt.Sprintf("answers with another token: here is %v, want the same on all ranks", o.Token), true, false}
	}
	if owner := otherOwner(ctx, dial, o.Addr); owner != "" {
		return nil, unreachedError{reason: owner}
	}
	return nil, unreachedError{reason: "accepted, but not our protocol"}
}

// errWrongToken reports a server with another token.
var errWrongToken = errors.New("not the token of this worker")

// dialOptions returns the options of a client with one connection, which is never replaced.
func dialOptions(raw net.Conn) []grpc.DialOption {
	var used atomic.Bool
	return []grpc.DialOption{
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if used.Swap(true) {
				return nil, net.ErrClosed
			}
			return raw, nil
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxReplyBytes), grpc.MaxCallSendMsgSize(wire.MaxReplyBytes)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: maxBackOff, Multiplier: 1, MaxDelay: maxBackOff},
			MinConnectTimeout: handshakeTimeout,
		}),
	}
}

// serverOptions returns the options of the gRPC server that carries the rendezvous. Neither side
// sends gRPC keepalive pings: a stopped process would lose its connection before the end of a long
// lease.
func serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(wire.MaxReplyBytes), // a record names all workers
		grpc.ForceServerCodecV2(newCodec()),
		grpc.ConnectionTimeout(handshakeTimeout),
	}
}

// authenticate checks the proof of the rendezvous and makes the worker's own.
func (c *connection) authenticate(o *Options) error {
	nonce := newNonce()
	hello := &pb.WorkerMessage{What: &pb.WorkerMessage_Hello{Hello: &pb.Hello{Nonce: nonce}}}
	if err := c.stream.Send(hello); err != nil && !errors.Is(err, io.EOF) { // Recv returns the reason
		return err
	}
	msg, err := c.stream.Recv()
	if err != nil {
		return err
	}
	challenge := msg.GetChallenge()
	if len(challenge.GetNonce()) != nonceBytes {
		return errors.New("no challenge")
	}
	if o.Token.Proves(challenge.Proof, []byte("rendezvous: server"), nonce, challenge.Nonce) {
		c.proof = workerProof(o.Token, nonce, challenge.Nonce)
		c.lease, c.instance = max(wire.Milliseconds(challenge.LeaseMs), time.Second), challenge.Instance
		return nil
	}
	// The server learns which rank has another token, so that it can tell others. It gets no proof.
	unproved := &pb.Join{Rank: int32(o.Rank)}
	if c.stream.Send(&pb.WorkerMessage{What: &pb.WorkerMessage_Join{Join: unproved}}) == nil {
		c.stream.Recv() // the answer is not trusted
	}
	return errWrongToken
}

// complete adds to a request what belongs to this connection: the proof, and the address of this
// worker as the rendezvous sees it.
func (c *connection) complete(j *pb.Join) {
	j.Proof = c.proof
	j.Worker.Addr = completeAddr(j.Worker.Addr, c.raw.LocalAddr())
}

func (c *connection) close() {
	c.cancel()
	c.conn.Close()
	c.raw.Close() // closes a connection that gRPC did not take
}

// cause returns a cause of this worker before it has a rank.
func (o *Options) cause(code int, text string) *ring.Cause {
	return &ring.Cause{Rank: o.Rank, Host: o.Self.Host, Step: -1, Operation: state.OpJoin, Text: text, ExitCode: code}
}

// handshake is the server's side of the handshake: hello, challenge, proof.
type handshake struct {
	token       token.Token
	workerNonce []byte // nonces of both sides
	serverNonce []byte
	proved      bool
}

// challenged reports whether a challenge was sent.
func (h *handshake) challenged() bool { return h.workerNonce != nil }

// challenge answers a hello with the server's proof. It returns nil if hello is invalid or is not
// the first one.
func (h *handshake) challenge(hello *pb.Hello) *pb.Challenge {
	if h.challenged() || len(hello.GetNonce()) != nonceBytes {
		return nil
	}
	h.workerNonce, h.serverNonce = hello.GetNonce(), newNonce()
	return &pb.Challenge{Nonce: h.serverNonce, Proof: serverProof(h.token, h.workerNonce, h.serverNonce)}
}

// verify reports whether the client has the token. It is called once, after challenge.
func (h *handshake) verify(proof []byte) bool {
	h.proved = h.token.Proves(proof, []byte("rendezvous: worker"), h.workerNonce, h.serverNonce)
	return h.proved
}
