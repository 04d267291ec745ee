// Package grpclink implements ring.Link over gRPC streams, for networks through which only
// HTTP/2 passes. Where raw TCP passes, package tcplink is faster.
//
// A worker calls the method Frames of the worker to which it sends. It sends frames on
// that stream and receives acknowledgements on it. The service runs on the worker's own
// gRPC server, beside the rendezvous:
//
//	server := grpc.NewServer(grpclink.ServerOptions()...)
//	acceptor := grpclink.Register(server)
//	… serve, learn the membership …
//	links, err := grpclink.Open(ctx, membership, acceptor, grpclink.Config{Token: token}, routes)
//
// # Messages
//
// The first three messages of a stream are hello, welcome and proof, as in
// ring/PROTOCOL.md. Each further message has the bytes of a frame as on a TCP link. A frame
// with more than 256 KiB of payload takes several messages: the header with the first
// 256 KiB, then 256 KiB each, then the rest. So a server accepts no longer message from any
// client. Messages are raw bytes: protobuf would copy the payload once more.
//
// # Costs
//
// Each side copies a payload once more than HTTP/2 does, since gRPC sends a message after
// SendMsg has returned. A frame also allocates, mostly in gRPC. BenchmarkLink compares the
// costs with those of package tcplink. gRPC writes several small frames in one system call
// if they follow each other closely; a collective waits for each.
//
// # Shutdown
//
// Shutdown is as in package tcplink. Send and Recv check their context only when they begin,
// and Close ends a blocked call. If the stream is at the end of a frame, Close sends a
// goodbye, so the neighbours can tell the end from a crash. gRPC sends later than SendMsg
// returns, so Close waits until the neighbour has taken the goodbye, for at most 2 s. The
// neighbour takes it at once unless more than two messages are unread. Abort sends the cause
// instead, after the rest of a partial frame, for which it waits at most half a second.
//
// # Strangers
//
// Any client that reaches the server can open streams. A stream costs at most gRPC's window
// (4 MiB) until its handshake fails or its 5 s are over. Its first message is read only up
// to 256 KiB.
package grpclink
