// Package tcplink implements ring.Link over TCP, for workers on different hosts.
//
// In a ring, a connection carries frames in one direction: from the worker that dialled
// to the worker that accepted. Two neighbours that send to each other have two connections:
//
//	        frames ──►             frames ──►
//	rank 0 ═══════════════ rank 1 ═══════════════ rank 2 ══ … ══ rank 0
//	        ◄── acknowledgements   ◄── acknowledgements
//
// The two workers of a round exchange answers, so they share one connection
// (ring.Route.Shared). The lower rank dials. Each frame then carries the TCP
// acknowledgement of the other direction, which halves the packets of a small all-reduce:
//
//	       frames and acknowledgements
//	rank 0 ◄══════════════════════════► rank 2
//
// A connection begins with the handshake of ring/PROTOCOL.md and then carries frames: a
// header of 40 bytes, then the payload. [Open] opens all links of a worker at once: the
// ring and the other routes.
//
// # Sending and receiving
//
// Send writes a frame with one system call: send(2) for a small frame, writev(2) for a
// large one. TrySend writes without blocking. Bytes for which the socket has no room stay
// pending until the next TrySend or Send; outside Linux, all bytes stay pending. The
// connection carries nothing else in the meantime. One exception: before an
// acknowledgement on a shared connection, the sender's goroutine writes the pending bytes.
//
// Recv reads a small frame with one system call, and a large one with two or more. At most
// 4 KiB of a large payload are copied; the socket delivers the rest into the caller's
// buffer. Recv calls the function of OnIdle when a read finds no bytes. On a shared
// connection, and outside Linux, Recv calls it before each read.
//
// Send and Recv do not allocate and do not start goroutines. A link has one goroutine,
// which reads acknowledgements. The receiver acknowledges every MiB with Config.Repair,
// and every 16 MiB without, because each acknowledgement wakes the sender's process. On a
// shared connection Recv reads the acknowledgements. The link's goroutine reads them only
// while Send waits for one and no Recv runs. A worker that only sends on a shared
// connection therefore learns late that the neighbour has gone.
//
// # Costs
//
// On Linux a Recv that finds no bytes tries again up to Config.Spin times before it sleeps,
// and its socket is not registered with the runtime's poller. Both shorten small
// all-reduces on one host and do not change large ones; see BenchmarkLink.
//
// The payload CRC reads each payload once more on each side. Config.Repair copies each
// frame once on the sender (BenchmarkUnacked). Both costs are a small part of the time on
// a wire of 10 Gbit/s.
//
// # Repair
//
// With Config.Repair the link replaces a connection that the network has broken, and sends
// the lost frames again. The sender keeps a copy of each frame until the receiver
// acknowledges it. The copies take at most 8 MiB, or 1 MiB and one frame if that is more;
// then Send waits. After a break the sender dials again, and the handshake agrees on the
// position where the stream continues:
//
//	sender                                                receiver
//	   │ ═ 1.0 ═ 1.1 ═ 1.2 ═ 1.3 ═ ✕                         │  has 1.0, 1.1
//	   │ ── hello: I can repeat from 1.0 ──────────────────► │  the dialer proves the token,
//	   │ ◄─ welcome: continue at 1.2 ─────────────────────── │  as in the first handshake
//	   │ ═ 1.2 ═ 1.3 ══════════════════════════════════════► │
//
// The receiver takes no frame twice: the position of each frame is greater than that of
// the frame before. A frame with a wrong CRC breaks the connection as well; the third
// such frame in a row ends the link with an error.
//
// Two connections replace a shared connection. A worker that neither sends nor receives
// does not notice the break. The neighbour notices it and dials, which tells the idle
// worker. If only the idle worker's side of the connection ended, the neighbour
// notices the break at the next frame, or after 15 s by TCP's keepalive.
//
// The error must name a dead neighbour at once. The dialer therefore gives up when no
// process listens on the neighbour's port, or when another incarnation does. The acceptor
// probes the neighbour's port while it waits. Only a host that does not answer is worth a
// wait: ten seconds from the break (RepairTimeouts). A link also gives up after three
// connections in a row that deliver no frame. The error is that of the first break.
//
// Apart from the link's own goroutine, Repair needs one goroutine for each worker, which
// accepts the reconnecting neighbours. Close of the last link ends it.
//
// # Shutdown
//
// Send and Recv check their context only when they begin; Close ends a blocked call. If
// the stream is at the end of a frame, Close sends a goodbye. The neighbour can so tell a
// shutdown ("it closed the link", io.EOF) from a crash ("connection reset by peer",
// io.ErrUnexpectedEOF). Close waits for at most 2 s, and only if the neighbour has an
// acknowledgement due. After this wait all frames are delivered, even if this process ends.
//
// Abort sends the cause to both neighbours instead of a goodbye. It first sends the rest of
// a partial frame, for at most half a second. A neighbour that does not read then learns
// the cause over its other connection, whose acknowledgements are always read. This does
// not hold for a shared connection.
//
// On Linux the kernel ends a connection to another machine when the neighbour's host
// acknowledges nothing for six minutes (TCP_USER_TIMEOUT). This is the last resort: the
// deadlines of the owner are shorter.
package tcplink
