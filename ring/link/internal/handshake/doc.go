// Package handshake is how two neighbours of a ring find out, over a fresh
// connection, that they belong to each other. All links over a network use it.
//
//	dialer (rank r)                      acceptor (rank r+1)
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
// then that the hello names the two workers and the generation that it waits
// for; the first difference is the reason in the welcome. Nothing else happens
// before the dialer's proof is right. The dialer believes no word of a welcome
// before it has checked the acceptor's proof.
//
// Until then neither side holds more memory than two messages of at most
// [MaxMessageBytes].
package handshake
