// Package doctor examines the hosts of a job before the job does: can each worker
// reach each other one, how fast, and what is wrong with the hosts themselves.
//
// The workers have met at a rendezvous, and that is all that is known to work. So
// whatever follows may fail for one pair and must not hold up the others:
//
//	reach      every worker dials every other one's port, as its links would, and
//	           proves the job's token; all at once, for 5 s at most
//	tour       the pairs measure, in the rounds of a tournament, so that no worker is
//	           in two measurements at a time: round trips of 64 bytes, then bursts of
//	           bytes that grow until one takes long enough to know
//	collect    every worker sends what it has found to rank 0, by way of another one
//	           if there is no way of its own, and hears the verdict
//
// [Examine] does this; only rank 0 gets the [Report]. What it means is a pure
// function of it: [Report.Verdict]. [Report.Table] prints it for people.
//
// # Which pairs
//
// A pair is ordered: from the worker that dials to the one that listens, which is
// what names, routes and firewalls distinguish. Every pair has its round trip. The
// bandwidth is that between hosts, so the first worker of each host measures it,
// and where all are on one host every pair does.
//
// # On the wire
//
// A connection is that of a link up to the end of its handshake (ring/PROTOCOL.md).
// Then both sides write messages, all little endian:
//
//	u8 kind   u32 length   payload
//
//	'B' 'R'   begin, ready       before a pair measures, and when its partner is free
//	'P'       64 bytes           sent back with the partner's clock in the first 8:
//	                             nanoseconds since 1970, UTC
//	'D'       up to 16 KiB       part of a burst
//	'F' 'A'   flush, arrived     after a burst, and when all of it is here
//	'E'       end                of a pair's measurement
//	'S' 'T'   JSON, up to 1 MiB  what a worker has found, for rank 0; to be passed on there
//	'V'       JSON               the verdict
package doctor
