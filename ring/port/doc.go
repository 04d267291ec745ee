// Package port serves everything that arrives on a worker's one TCP port: control by gRPC, and
// the raw links of the ring. A firewall rule, a Kubernetes service and a worker's entry in the
// membership then need one port number.
//
// The first four bytes of a connection name its kind:
//
//	"PRI "       HTTP/2's preface: gRPC   → Port.GRPC
//	"RTL\x02"    hello of a link          → Port.Links
//	"RTQ\x01"    query for the owner      → answered with the Owner of Port.SetOwner, closed
//	else                                  → closed
//
//	           ┌────────┐   first 4 bytes    ┌──────────────┐
//	accept ──► │  Port  │ ─────────────────► │ queue, ≤ 128 │ ──► Accept
//	           └────────┘   ≤ 5 s, ≤ 256     └──────────────┘
//
// # Strangers
//
// The peer of a new connection is unknown, so a connection costs little and not for long. It
// must send its four bytes, and take an answer, within 5 s. At most 256 connections may be in
// this state, and at most 128 of each kind wait to be accepted. Further connections are closed
// at once; links and gRPC both dial again. The answer to a query has the job's id and the rank,
// no secrets. It lets an error say that an address belongs to another worker, or that an older
// run still has it.
package port
