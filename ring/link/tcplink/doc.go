// Package tcplink joins neighbours by raw TCP: the link between hosts.
//
// Each worker dials its right neighbour and accepts its left one, so every
// pair of neighbours has a connection of its own and direction, with two ranks
// as well:
//
//	        frames ──►             frames ──►
//	rank 0 ═══════════════ rank 1 ═══════════════ rank 2 ══ … ══ rank 0
//	        ◄── acknowledgements   ◄── acknowledgements
//
// A connection begins with the handshake of ring/PROTOCOL.md and then carries
// frames: 40 bytes of header, then the payload.
//
// # Costs
//
// A frame is one vectored write. It is read by one system call if it is small,
// else by two or more: what came along with the header is copied, at most 4
// KiB, and the rest goes from the socket straight to the caller's buffer. Send
// and Recv allocate nothing, and start nothing: a link has one goroutine, which
// reads acknowledgements.
//
// # Ends
//
// Send and Recv look at their context only when they begin; a call that blocks
// is ended by Close. Close says goodbye if the stream is whole, so that
// the neighbours can tell an end ("it closed the link", io.EOF) from a crash
// ("connection reset by peer", io.ErrUnexpectedEOF). It waits, for at most 2 s,
// only if the right neighbour is more than a MiB behind; then all that was sent
// is delivered, even if this process ends.
//
// A neighbour whose host is gone, or that takes nothing for six minutes, ends
// the connection on Linux (TCP_USER_TIMEOUT). That is the last resort: the
// owner's deadlines are shorter.
package tcplink
