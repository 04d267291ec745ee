// Package handshake lets two workers verify over a new connection that they are neighbours
// of the same job. It also opens all connections of a worker at once ([Connect]). All links
// over a network use it.
//
//	dialer                               acceptor
//	   │ ── hello: who I am, who you should be, nonce ──► │
//	   │ ◄── welcome: status, nonce, acceptor's proof ─── │
//	   │ ── dialer's proof ─────────────────────────────► │
//	   │ ══ frames ═════════════════════════════════════► │
//
// ring/PROTOCOL.md has the bytes. Each side proves the token of the job over the whole
// hello, with the dialer's nonce in it, and the acceptor's nonce. A proof is therefore valid
// for one connection only. The acceptor proves first: a stranger that listens in a worker's
// place learns nothing useful.
//
// # Order of checks
//
// The acceptor checks the lengths and the CRC of the hello, and then the protocol version.
// Then it checks that the hello names this job, carries the fence of this generation
// (ring.Fence), and names this worker, an expected rank and stream, and the right
// incarnations. The first difference is the reason in the welcome. The acceptor does nothing
// more before the dialer's proof is right. The dialer uses no field of a welcome before it
// has checked the acceptor's proof. An answer without a right proof does not come from the
// acceptor, and the dialer tries again.
//
// Until then each side holds at most two messages in memory, of [MaxMessageBytes] at
// most.
package handshake
