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

// Acceptor takes the streams of other workers from a server and passes them
// to Open. It serves one generation after another.
type Acceptor struct {
	streams chan *incoming
}

// Register adds the service of links to a server. The server must have been made
// with ServerOptions and must not serve yet.
func Register(s grpc.ServiceRegistrar) *Acceptor {
	a := &Acceptor{streams: make(chan *incoming)}
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: serviceName,
		HandlerType: (*any)(nil),
		Streams:     []grpc.StreamDesc{streamDesc(a.serve)},
	}, a)
	return a
}

// streamDesc describes the service's only method. The client's handler is nil.
func streamDesc(serve func(grpc.ServerStream) error) grpc.StreamDesc {
	return grpc.StreamDesc{
		StreamName:    streamName,
		Handler:       func(_ any, s grpc.ServerStream) error { return serve(s) },
		ServerStreams: true,
		ClientStreams: true,
	}
}

// serve keeps a stream until its link closes it: gRPC ends the stream when serve returns. If
// no Open takes the stream within handshakeTimeout, serve ends it.
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

// next returns the next stream, until ctx ends.
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
	done   chan struct{} // closed by Close; serve then ends the stream
}

// From returns the address of the client.
func (in *incoming) From() string {
	if p, ok := peer.FromContext(in.stream.Context()); ok {
		return p.Addr.String()
	}
	return "an unknown address"
}

// Handshake runs the acceptor's part. After handshakeTimeout it ends the stream, which ends
// a read from it.
func (in *incoming) Handshake(ctx context.Context, part func(handshake.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, handshakeTimeout, errSilent)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { in.Close() })
	err := doHandshake(in.stream, part)
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}

func (in *incoming) Close() error {
	in.close.Do(func() { close(in.done) })
	return nil
}
