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

// What gRPC is told. Its own windows of 64 KiB cut the bandwidth to a seventh;
// given explicitly they also turn off its probing for the right size.
const (
	streamWindow    = 4 << 20
	connWindow      = 8 << 20
	socketBuffer    = 256 << 10
	maxMessageBytes = ring.FrameHeaderBytes + maxChunk
	maxStreams      = 64 // of one connection
	minPing         = 5 * time.Second
	pingEvery       = 30 * time.Second
)

// ServerOptions returns the options of a server that serves links. Its other
// services speak protobuf as ever. Messages of more than 256 KiB are refused,
// whatever the service.
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

// dialOptions returns those of a connection to another worker. The token
// authenticates; there is no TLS.
func dialOptions(dial func(context.Context, string) (net.Conn, error)) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithContextDialer(dial),
		grpc.WithDisableRetry(),         // of calls: a frame must not be sent twice
		grpc.WithDisableServiceConfig(), // and nobody else may ask for it
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
