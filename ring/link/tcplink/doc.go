// Package tcplink joins workers by raw TCP: the link between hosts.
//
// A connection of a ring carries frames in one direction, from the worker that has
// dialled to the one that has accepted, so two neighbours have one for each direction
// also where both send to each other:
//
//	        frames ──►             frames ──►
//	rank 0 ═══════════════ rank 1 ═══════════════ rank 2 ══ … ══ rank 0
//	        ◄── acknowledgements   ◄── acknowledgements
//
// Two workers who answer each other share one (ring.Route.Shared), which the lower rank
// dials: those of a round. A frame then tells the kernel of the other host what has arrived: an
// all-reduce of 8 B among four took 6 packets instead of 12, and 0.75 times as long
// between hosts of 1 Gbit/s.
//
//	       frames and acknowledgements
//	rank 0 ◄══════════════════════════► rank 2
//
// A connection begins with the handshake of ring/PROTOCOL.md and then carries
// frames: 40 bytes of header, then the payload. [Open] makes all links of a
// worker at once: the ring, and those of other routes.
//
// # Costs
//
// A frame is one write, vectored unless it is small. TrySend makes it without waiting:
// what the socket has no room for (elsewhere than on Linux: all) is left to the next
// TrySend or Send, and until then nothing else goes over the connection but an
// acknowledgement over a shared one, which sends the rest first. A frame is read by
// one system call if it is small, else by two or more: what came along with the header
// is copied, at most 4 KiB, and the rest goes from the socket straight to the caller's
// buffer. Recv calls who has asked for that (OnIdle) when a read finds nothing; over a
// shared connection, and elsewhere than on Linux, before each read.
//
// Send and Recv allocate nothing, and start nothing: a link has one goroutine, which
// reads acknowledgements, one for each MiB, or for each 16 MiB where nothing is kept
// for a repair: with one for each MiB an all-reduce of 512 KiB took 1.2 times as long
// as with one for each 4 MiB among 4 and 8 processes on 2 cores. Over a shared connection Recv reads
// them, and that goroutine only while Send waits for one and nobody receives; so who
// sends there and never receives hears late that its neighbour has gone.
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
// Config.Repair copies each frame: 27 µs for 512 KiB at 20 GB/s, up to 80 µs where
// others use the memory as well. That is 0.06 to 0.2 of the time of a wire of 10
// Gbit/s, and 0.006 to 0.02 of one of 1 Gbit/s, on a core that else waits for it;
// of a small frame 0.1 µs.
//
// Several connections for one ring (Config.Streams) gained nothing that could be
// told from noise on loopback, over a veth pair, and on a wire of 1 Gbit/s,
// which one fills, also with 10 ms of round trip. They are for wires where one
// connection is held back: by a limit on each, or by more than the 4 MiB of a
// socket buffer under way. With 80 ms of round trip at 1 Gbit/s one carried 0.05
// GB/s and four 0.09 (bench/README.md).
//
// # Repair
//
// With Config.Repair a connection that the network has broken is replaced, and what
// was lost with it is sent again. The sender keeps a copy of each frame until it is
// acknowledged, at most 8 MiB, or a MiB and one frame where that is more; when that
// is full, Send waits. It dials again, and both sides agree in the handshake on the
// frame where the stream goes on:
//
//	sender                                                receiver
//	   │ ═ 1.0 ═ 1.1 ═ 1.2 ═ 1.3 ═ ✕                         │  has 1.0, 1.1
//	   │ ── hello: I can repeat from 1.0 on ───────────────► │  whoever comes must prove
//	   │ ◄─ welcome: go on at 1.2 ────────────────────────── │  who it is, as at first
//	   │ ═ 1.2 ═ 1.3 ══════════════════════════════════════► │
//
// The receiver takes nothing twice: each frame is behind the one before it. A frame
// whose CRC is wrong breaks the connection, too; the third one in a row is an error.
//
// A shared connection is replaced by two. A worker that neither sends nor receives over
// it does not watch it; the other one, when it finds it broken, dials, and so calls that
// one. Where only the idle side was told, the other one learns it by TCP's keepalive,
// after 15 s, or by the next frame.
//
// A neighbour that has died must be named at once. So who dials gives up when nobody
// listens there any more, or another incarnation does; and who waits to be dialled
// looks meanwhile whether the neighbour's port is open. Only a host that does not
// answer is worth waiting for, for ten seconds from the break on (Patience). After
// three connections in a row over which nothing has come, a link gives up as well.
// The error is what broke the connection first.
//
// Nothing but the link's own goroutine is needed as long as all is well, and one for
// each worker that accepts those who come back; Close of the last link ends it.
//
// # Ends
//
// Send and Recv look at their context only when they begin; a call that blocks
// is ended by Close. Close says goodbye if the stream is whole, so that
// the neighbours can tell an end ("it closed the link", io.EOF) from a crash
// ("connection reset by peer", io.ErrUnexpectedEOF). It waits, for at most 2 s,
// only if the neighbour is more than a MiB behind, or 16 MiB without Repair; then all that was sent
// is delivered, even if this process ends.
//
// Abort tells both neighbours why instead. It sends the rest of a frame that is under way
// first, for half a second at most. A neighbour that takes no more then hears of it from the
// other side: acknowledgements have a goroutine that always reads, but over a shared connection.
//
// A neighbour whose host is gone, or that takes nothing for six minutes, ends
// the connection on Linux (TCP_USER_TIMEOUT), where it is on another machine. That is the last
// resort: the owner's deadlines are shorter.
package tcplink
