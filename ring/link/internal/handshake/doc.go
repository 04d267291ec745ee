// Package handshake is how two workers find out, over a fresh connection, that
// they belong to each other, and how a worker opens all its connections at once
// ([Meet]). All links over a network use it.
//
//	dialer                               acceptor
//	   │ ── hello: who I am, who you should be, nonce ──► │
//	   │ ◄── welcome: status, nonce, acceptor's proof ─── │
//	   │ ── dialer's proof ─────────────────────────────► │
//	   │ ══ frames ═════════════════════════════════════► │
//	   │ ◄══════════════════════════════ acknowledgements │
//
// ring/PROTOCOL.md has the bytes. Both sides prove the token of the job over
// the whole hello and the acceptor's nonce (the hello holds the dialer's), so
// that a proof fits one connection only. The acceptor proves first: a stranger
// who listens in a worker's place learns nothing that it could use.
//
// # Order of checks
//
// The acceptor checks lengths and CRC of the hello, then the protocol version,
// then that the hello names this job, generation and worker, a rank and stream
// that it waits for, and their incarnations; the first difference is the reason
// in the welcome. Nothing else happens before the dialer's proof is right. The
// dialer believes no word of a welcome before it has checked the acceptor's
// proof. An answer without a right proof is no answer of the acceptor: the dialer
// tries again ([ErrUnproved]).
//
// Until then neither side holds more memory than two messages of at most
// [MaxMessageBytes].
package handshake
