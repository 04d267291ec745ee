// Package grpclink joins workers by gRPC streams: the link for networks
// that let nothing but HTTP/2 pass. Where raw TCP passes, package tcplink is
// faster.
//
// A worker calls the method Frames of whom it sends to and sends frames on
// that stream; acknowledgements come back on it. The service lives on the
// worker's own gRPC server, beside the rendezvous:
//
//	server := grpc.NewServer(grpclink.ServerOptions()...)
//	acceptor := grpclink.Register(server)
//	… serve, learn the membership …
//	links, err := grpclink.Open(ctx, membership, acceptor, grpclink.Config{Token: token}, routes)
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
// one process, both sides together (BenchmarkLink):
//
//	payload    allocations    bytes allocated    time against tcplink
//	8 B             8              0.3 KiB        2.5 (there and back)
//	4 KiB           5              0.5 KiB        0.5
//	128 KiB         9              1.5 KiB        1.4
//	512 KiB        23              5.6 KiB        2.1
//
// Of frames that follow each other closely gRPC sends several in one system
// call, which makes up for the rest at 4 KiB. A collective waits for each.
//
// # Ends
//
// As in package tcplink: Send and Recv look at their context only when they
// begin, Close ends a call that blocks and says goodbye if the stream is
// whole, and the neighbours can tell that from a crash. gRPC sends later than
// it says, so Close waits until the neighbour has taken the goodbye, for
// at most 2 s; it takes it at once unless more than two messages are unread. Abort tells why
// instead, behind the rest of a frame that is under way, for which it waits half a second at most.
//
// # Strangers
//
// Whoever can reach the server can open streams; they cost what gRPC's windows
// allow (4 MiB each) until the handshake fails or its 5 s are over. The first
// message is read only up to 256 KiB.
package grpclink
