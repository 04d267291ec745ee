// Package doctor examines the hosts of a job before the job runs: whether each worker can reach
// each other one, how fast, and what is wrong with the hosts themselves.
//
// The workers have met at a rendezvous; nothing else is known to work. Each further step may fail
// for one pair and must not delay the others:
//
//	connect    each worker dials each other one's port as its links would, and proves
//	           the job's token; all at once, for at most 5 s
//	measure    the pairs measure in rounds, so that no worker is in two measurements
//	           at a time: round trips of 64 bytes, then bursts of growing size until
//	           one takes long enough
//	collect    each worker sends its report to rank 0, through another worker if it
//	           cannot reach rank 0, and receives the verdict
//
// [Examine] does this. Only rank 0 gets the [Report]. [Report.Verdict] judges it, as a pure
// function of it. [Report.Table] prints it.
//
// # Pairs
//
// A pair is ordered, from the dialling worker to the listening one, since names, routes and
// firewalls may differ by direction. Each pair measures its round trip. Bandwidth is a property of
// hosts, so only the first worker of each host measures it. On one host all pairs do.
//
// # On the wire
//
// A connection begins with the handshake of a link (ring/PROTOCOL.md). Then both sides send
// messages, little-endian:
//
//	u8 kind   u32 length   payload
//
//	'B' 'R'   begin, ready       begin of a pair's measurement, and the partner's answer
//	'P'       64 bytes           returned with the partner's clock in the first 8:
//	                             nanoseconds since 1970, UTC
//	'D'       up to 16 KiB       part of a burst
//	'F' 'A'   flush, arrived     end of a burst, and the answer after all of it
//	'E'       end                end of a pair's measurement
//	'S' 'T'   JSON, up to 1 MiB  a worker's report, to rank 0 or to a rank that relays it
//	'V'       JSON               the verdict
package doctor
