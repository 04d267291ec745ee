// Package grpclink joins neighbours by a gRPC stream: the link for networks
// that let nothing but HTTP/2 pass. Where raw TCP passes, package tcplink is
// faster.
//
// A worker calls the method Frames of its right neighbour and sends frames on
// that stream; acknowledgements come back on it. The service lives on the
// worker's own gRPC server, beside the rendezvous:
//
//	server := grpc.NewServer(grpclink.ServerOptions()...)
//	acceptor := grpclink.Register(server)
//	… serve, learn the membership …
//	link, err := grpclink.Open(ctx, membership, acceptor, grpclink.Config{Token: token})
//
// # Messages
//
// The first three messages of a stream are hello, welcome and proof, as in
// ring/PROTOCOL.md. Then each message holds the bytes of a frame as they would
// be on a TCP link. A frame with more than 256 KiB of payload takes several
// messages: the header with the first 256 KiB, then 256 KiB each, then the
// rest. So a server need not take messages longer than that from anybody.
// Messages are raw bytes: protobuf would copy the payload once more.
//
// # Costs
//
// Payloads are copied once on each side on top of what HTTP/2 does, since gRPC
// sends after SendMsg has returned. Measured over loopback between two ranks of
// one process, both sides together: a frame of 64 bytes costs 8 allocations
// (0.5 KiB), one of 256 KiB 10 to 13 (2 KiB), and the bandwidth of large frames
// is a quarter to a third of tcplink's (BenchmarkLink).
//
// # Ends
//
// As in package tcplink: Send and Recv look at their context only when they
// begin, Close ends a call that blocks and says goodbye if the stream is
// whole, and the neighbours can tell that from a crash. gRPC sends later than
// it says, so Close waits until the right neighbour has taken the goodbye, for
// at most 2 s; it takes it at once unless more than two messages are unread.
//
// # Strangers
//
// Whoever can reach the server can open streams; they cost what gRPC's windows
// allow (4 MiB each) until the handshake fails or its 5 s are over. The first
// message is read only up to 256 KiB.
package grpclink
