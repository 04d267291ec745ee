// Package handshake says what two workers of a job tell each other before they share a link or the
// memory of their host, and opens all links of a worker at once ([Connect], [ConnectAll]).
//
// The exchange of ring/token carries the request and proves it: what arrives here comes from a
// process with the job's token. It may still be the wrong process: of another generation, at the
// address of its predecessor, started twice. The request therefore names the job, carries the fence
// of the generation (ring.Fence), and names both ends with their incarnations ([Identity.Request]). The
// acceptor compares it with its own membership ([Identity.Check]). The first difference is the reason
// of its refusal, and the dialer tries again, because one of both may be in another generation still.
//
// A link is in clear if both ends are on one host: they have the same host id, and the socket has one
// address at both ends. Else it uses TLS, or with [Identity.Clear] proves and then sends in clear, with
// CRCs. The acceptor decides by the same facts as the dialer.
package handshake
