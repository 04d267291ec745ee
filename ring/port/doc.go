// Package port lets one TCP port of a worker serve everything that arrives:
// control by gRPC, and the raw links of the ring. A firewall rule, a Kubernetes
// service and a roster entry then need one number per worker.
//
// What a connection wants is told by its first four bytes:
//
//	"PRI "       HTTP/2's preface: gRPC   → Port.GRPC
//	"RTL\x01"    hello of a link          → Port.Links
//	"RTQ\x01"    whose port is this?      → answered with what Port.Tell was given, closed
//	else                                  → closed
//
//	           ┌────────┐   first 4 bytes    ┌──────────────┐
//	accept ──► │  Port  │ ─────────────────► │ queue, ≤ 128 │ ──► Accept
//	           └────────┘   ≤ 5 s, ≤ 256     └──────────────┘
//
// # Strangers
//
// Nothing is known of who connects, so a connection costs little and not for
// long: it must show its four bytes, and take an answer, within 5 s, at most 256
// connections may owe that, and at most 128 of each kind wait to be accepted. What
// is beyond is closed at once; links and gRPC both dial again. Whoever asks is told the job's
// id and the rank, no secrets: so a person can be told that an address is that of
// another worker, or that an older run still holds it.
package port
