// Package tcplink joins workers by raw TCP: the link between hosts.
//
// A connection carries frames in one direction, from the worker that has dialled
// to the one that has accepted, so two neighbours have one for each direction
// also where both send to each other:
//
//	        frames ──►             frames ──►
//	rank 0 ═══════════════ rank 1 ═══════════════ rank 2 ══ … ══ rank 0
//	        ◄── acknowledgements   ◄── acknowledgements
//
// A connection begins with the handshake of ring/PROTOCOL.md and then carries
// frames: 40 bytes of header, then the payload. [Open] makes all links of a
// worker at once: the ring, and those of other routes.
//
// # Costs
//
// A frame is one vectored write. It is read by one system call if it is small,
// else by two or more: what came along with the header is copied, at most 4
// KiB, and the rest goes from the socket straight to the caller's buffer. Send
// and Recv allocate nothing, and start nothing: a link has one goroutine, which
// reads acknowledgements, one for each MiB.
//
// On Linux a Recv that finds nothing tries again some times (Config.Spin) before
// it sleeps, and the runtime's poller knows nothing of its socket. An all-reduce
// of 8 KiB and of 128 KiB took 0.3 to 0.5 times as long by that among 2 processes
// on 2 cores, and 0.5 to 0.8 times among 4 and 8; of 2 MiB and more as long. (Two
// interleaved runs on a machine that others used: read the order, not the value.)
//
// A payload's CRC costs 35 µs for 512 KiB on each side, at 15 GB/s. Where two
// processes on one host exchange such frames with both cores busy they take 1.2
// times as long; on a wire of 10 Gbit/s it is 0.08 of the time of the wire, on
// a core that else waits for it.
//
// Several connections for one ring (Config.Streams) gained nothing that could be
// told from noise on loopback, over a veth pair, and on a wire of 1 Gbit/s,
// which one fills. They are for wires where one connection is held back: by a
// limit on each, or by more than the 4 MiB of a socket buffer under way.
//
// # Ends
//
// Send and Recv look at their context only when they begin; a call that blocks
// is ended by Close. Close says goodbye if the stream is whole, so that
// the neighbours can tell an end ("it closed the link", io.EOF) from a crash
// ("connection reset by peer", io.ErrUnexpectedEOF). It waits, for at most 2 s,
// only if the neighbour is more than a MiB behind; then all that was sent
// is delivered, even if this process ends.
//
// A neighbour whose host is gone, or that takes nothing for six minutes, ends
// the connection on Linux (TCP_USER_TIMEOUT). That is the last resort: the
// owner's deadlines are shorter.
package tcplink
