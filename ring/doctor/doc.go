// Package doctor examines the hosts of a job before the job runs: whether each worker can reach
// each other one, how fast, and what is wrong with the hosts themselves.
//
// The workers have met at a rendezvous; nothing else is known to work. Each further step may fail
// for one pair and must not delay the others:
//
//	connect    each worker dials each other one's port as its links would, and proves
//	           the job's token; all at once, for at most 5 s
//	measure    in round r the workers meet whose ranks sum to r modulo the world size, so
//	           that no worker is in two measurements at a time
//	collect    each worker sends its report to rank 0
//
// [Examine] does this. Only rank 0 gets the [Report]. [Report.Verdict] judges it, as a pure
// function of it. [Report.Table] prints it. If a job could not run, rank 0 ends the group with the worst
// finding as its cause, so that all ranks have it.
//
// # Pairs
//
// A pair is ordered, from the dialling worker to the listening one, since names, routes and
// firewalls may differ by direction. Each pair measures its round trip. Bandwidth is a property of
// hosts, so only the first worker of each host measures it. On one host all pairs do.
//
// # On the wire
//
// A connection begins with the handshake of a link (ring/PROTOCOL.md). Then the dialling worker
// measures, little-endian:
//
//	u32 length, payload     up to 4 MiB of zeros; the answer, after all of it, is the partner's
//	                        clock: i64 nanoseconds since 1970, UTC
//	u32 0                   end of the measurement
//
// After all measurements the connection between rank 0 and another rank, the one that rank 0 dialled
// or else the other way, carries the report of that rank, as JSON after its length as u32.
package doctor
