package grpclink

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"ringtrain/ring/link/internal/handshake"
)

const (
	serviceName = "ringtrain.Link"
	streamName  = "Frames"
	fullMethod  = "/" + serviceName + "/" + streamName
)

// Acceptor takes the streams of other workers from a server and hands them
// to Open. It serves one generation after another.
type Acceptor struct {
	streams chan *incoming
}

// Register adds the service of links to a server, which must have been made
// with ServerOptions and not serve yet.
func Register(s grpc.ServiceRegistrar) *Acceptor {
	a := &Acceptor{streams: make(chan *incoming)}
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: serviceName,
		HandlerType: (*any)(nil),
		Streams:     []grpc.StreamDesc{streamDesc(a.serve)},
	}, a)
	return a
}

// streamDesc describes the one method; the client has no handler.
func streamDesc(serve func(grpc.ServerStream) error) grpc.StreamDesc {
	return grpc.StreamDesc{
		StreamName:    streamName,
		Handler:       func(_ any, s grpc.ServerStream) error { return serve(s) },
		ServerStreams: true,
		ClientStreams: true,
	}
}

// serve keeps a stream for as long as somebody uses it: gRPC ends it when serve
// returns. One that nobody takes within the time of a handshake is ended.
func (a *Acceptor) serve(s grpc.ServerStream) error {
	in := &incoming{stream: s, done: make(chan struct{})}
	patience := time.NewTimer(handshakeTimeout)
	defer patience.Stop()
	select {
	case a.streams <- in:
		<-in.done
		return nil
	case <-s.Context().Done():
		return status.FromContextError(s.Context().Err()).Err()
	case <-patience.C:
		return status.Error(codes.Unavailable, "no worker waits for a link here")
	}
}

// next delivers the next stream, until ctx ends.
func (a *Acceptor) next(ctx context.Context) (*incoming, error) {
	select {
	case in := <-a.streams:
		return in, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// incoming is the server's side of a stream.
type incoming struct {
	stream grpc.ServerStream
	close  sync.Once
	done   chan struct{} // closed by Close; the stream ends then
}

// From returns the address of the client.
func (in *incoming) From() string {
	if p, ok := peer.FromContext(in.stream.Context()); ok {
		return p.Addr.String()
	}
	return "an unknown address"
}

// Shake does the acceptor's part. When the time is over it ends the stream,
// and so what reads from it.
func (in *incoming) Handshake(ctx context.Context, part func(handshake.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handshakeTimeout, errSilent)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { in.Close() })
	err := shake(in.stream, part)
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}

func (in *incoming) Close() error {
	in.close.Do(func() { close(in.done) })
	return nil
}
