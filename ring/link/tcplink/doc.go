// Package tcplink implements ring.Link over TCP, for workers on different hosts.
//
// In a ring, a connection carries frames in one direction: from the worker that dialled
// to the worker that accepted. Two neighbours that send to each other have two connections:
//
//	        frames ──►             frames ──►
//	rank 0 ═══════════════ rank 1 ═══════════════ rank 2 ══ … ══ rank 0
//
// The two workers of a round exchange answers, so they share one connection
// (ring.Route.Shared). The lower rank dials. Each frame then carries the TCP
// acknowledgement of the other direction, which halves the packets of a small all-reduce:
//
//	              frames
//	rank 0 ◄══════════════════► rank 2
//
// A connection begins with the exchange of ring/PROTOCOL.md and then carries frames: a
// header of 36 bytes, then the payload. [Open] opens all links of a worker at once: the
// ring and the other routes. A connection that breaks ends its link: the workers meet again
// in the next generation.
//
// Within a host frames are in clear, and nothing is checked. Between hosts they go through TLS 1.3, or
// with Config.Clear in clear with a CRC. Bytes that were changed on the way end the link with
// ring.ErrChangedBytes.
//
// # Sending and receiving
//
// Send writes a frame with one system call: send(2) for a small frame, writev(2) for a
// large one. TrySend writes without blocking. Bytes for which the socket has no room stay
// pending until the next TrySend or Send; outside Linux, all bytes stay pending. The
// connection carries nothing else in the meantime.
//
// Recv reads a small frame with one system call, and a large one with two or more. At most
// 4 KiB of a large payload are copied; the socket delivers the rest into the caller's
// buffer. Recv calls the idle function of Notify when a read finds no bytes; outside Linux, it
// calls it before each read.
//
// TLS lies between the frames and the socket. It writes its records into a buffer, piece by piece, which
// Send and TrySend then write to the socket as if it were the frame. So TrySend blocks over TLS as
// little as in clear, and a full socket costs one piece of memory. TLS reads from the same socket as
// Recv does in clear.
//
// Send and Recv do not allocate, with one exception: TLS allocates about half an object for each record of
// 16 KiB that it reads. They do not start goroutines. A link has one goroutine, which
// waits for the last frame of the neighbour to which it sends. On a shared connection Recv
// reads that frame, and Send reads it after a write that failed. A worker that only sends on
// a shared connection therefore learns late that the neighbour has gone.
//
// # Costs
//
// On Linux a Recv that finds no bytes tries again up to Config.Spin times before it sleeps,
// and its socket is not registered with the runtime's poller. Both shorten small
// all-reduces on one host and do not change large ones.
//
// The CRC reads each payload once more on each side, a small part of the time on a
// wire of 10 Gbit/s. BenchmarkLink compares what CRC and TLS cost.
//
// # Shutdown
//
// Send and Recv check their context only when they begin; Close ends a blocked call. If
// the stream is at the end of a frame, Close sends a goodbye. The neighbour can so tell a
// shutdown ("it closed the link", io.EOF) from a crash ("connection reset by peer",
// io.ErrUnexpectedEOF). The kernel delivers what was sent before, also after the end of this
// process: a worker that closes in good order has read all that its neighbour has sent, so
// nothing resets the connection.
//
// Abort sends the cause to both neighbours instead of a goodbye. It first sends the rest of
// a partial frame, for at most half a second. A neighbour that does not read then learns
// the cause over its other connection, on which the link's goroutine always reads. This does
// not hold for a shared connection.
//
// On Linux the kernel ends a connection to another machine when the neighbour's host
// answers nothing for six minutes (TCP_USER_TIMEOUT). This is the last resort: the
// deadlines of the owner are shorter.
package tcplink
