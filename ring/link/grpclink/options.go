package grpclink

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/handshake"
)

// gRPC's settings. The default windows of 64 KiB limit the bandwidth to a fraction. Explicit
// sizes also turn off gRPC's own estimate.
const (
	streamWindow    = 4 << 20
	connWindow      = 8 << 20
	socketBuffer    = 256 << 10
	maxMessageBytes = ring.FrameHeaderBytes + maxChunk
	maxStreams      = 64 // of one connection
	minPing         = 5 * time.Second
	pingEvery       = 30 * time.Second
)

// ServerOptions returns the options of a server that serves links. Its other services use
// protobuf as usual. The server refuses messages of more than 256 KiB for every
// service.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.InitialWindowSize(streamWindow),
		grpc.InitialConnWindowSize(connWindow),
		grpc.ReadBufferSize(socketBuffer),
		grpc.WriteBufferSize(socketBuffer),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
	}
}

// dialOptions returns the options of a connection to another worker. The token authenticates
// both sides; there is no TLS.
func dialOptions(dial func(context.Context, string) (net.Conn, error)) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithContextDialer(dial),
		grpc.WithDisableRetry(),         // a frame must not be sent twice
		grpc.WithDisableServiceConfig(), // a name server cannot enable retries either
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: dialTimeout}),
		grpc.WithInitialWindowSize(streamWindow),
		grpc.WithInitialConnWindowSize(connWindow),
		grpc.WithReadBufferSize(socketBuffer),
		grpc.WithWriteBufferSize(socketBuffer),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: pingEvery}),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(newCodec()),
			grpc.MaxCallRecvMsgSize(handshake.MaxMessageBytes), // acknowledgements are shorter
		),
	}
}
