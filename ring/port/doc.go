// Package port serves everything that arrives on a worker's one TCP port: control and status by gRPC,
// the links of the ring, and the question whose port it is. A firewall rule, a Kubernetes service and
// a worker's entry in the membership then need one port number.
//
//	           ┌───────┐  proved   ┌─ control, status ─► Port.GRPC
//	accept ──► │ seats │ ────────► ├─ link ────────────► Port.Links
//	           │ ≤ 256 │           └─ owner ───────────► answered here
//	           └───────┘  else closed
//
// A connection begins with TLS (0x16) or, for a link in clear, with token.Preamble, and then with the
// exchange of ring/token. The packages above the port see no byte of a stranger. The Unix socket on which
// the ranks of a host meet for their memory shares the seats; see [Port.Memory].
//
// # Strangers
//
// All connections that have not proved the token share 256 seats. A seat is taken for 5 s and for
// 16 KiB at most. If all are taken, the oldest seat of the address with the most seats is closed, and
// not the newcomer. A flood from one address therefore closes its own connections. A connection that
// has proved the token holds no seat.
package port
