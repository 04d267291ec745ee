// Package etcd lets the workers of a job find their rendezvous in an etcd cluster (version 3.4 or
// newer), and keeps the rendezvous's journal there.
//
// etcd does not replace the rendezvous: one of the workers serves it beside its work. Any worker
// can; the one that does is the coordinator. The keys below a prefix of the user's choice are:
//
//	PREFIX/JOB/coordinator        host:port of the coordinator, with a lease of 5 s
//	PREFIX/JOB/journal/00000001   the records, in the order of writing
//	PREFIX/JOB/journal/00000002
//	…
//
// JOB is the job id, escaped as in a URL.
//
// # Fencing
//
// A worker becomes the coordinator by creating the first key. The revision of the key is its
// fencing token: a transaction that writes an entry of the journal compares the revision. A process
// that was paused for longer than its lease can therefore write nothing after it wakes. No worker
// hears of a record that was not written. The lease itself gives no safety; it only ends the wait
// for a dead coordinator.
//
// # Campaigns
//
// A worker campaigns only after it has lost the rendezvous. So a working coordinator stays,
// whatever happens to its lease. A member of the job's last generation campaigns at once.
//
// A fresh worker is in no generation yet. It may be a rank that was started twice, or the successor
// of a lost rank, while the coordinator has only lost etcd. Unless the job has ended, a fresh
// worker therefore asks the members in the journal first. It does not campaign while one of them
// proves the token and is in a generation of this job. It campaigns at once if nobody listens at
// the members' addresses, or if fresh workers do. A member that does not answer may be stopped, or
// its host may be down or cut off. The fresh worker waits for an answer for three leases of the
// workers (15 s) in all.
//
// # Status clients
//
// A [Follower] reads the coordinators' keys below the prefix and asks the coordinators, so it
// continues with the next one when one dies. It writes nothing; a user with read access is enough.
// Only the journal shows the end of a job: a lost coordinator is no end.
//
// # When etcd is unavailable
//
// Training goes on. If the coordinator must write a record meanwhile, for a change of the workers
// or for the end, it resigns. The workers then look for another coordinator until etcd is back, for
// as long as they wait for ranks. The end of a job alone needs no etcd. After a restart, etcd gives
// leases their full time again, so the return of a coordinator may take up to 8 s more.
//
// # Limits
//
// A job leaves a journal of some KiB behind; the next job with the same id removes it. If all
// workers of a job die at once, the job has not ended. A restarted worker is then told once, with
// exit code 138, that the ranks are lost; if their hosts do not answer, this takes 15 s more.
//
// A user with write access to the prefix can end the job. To prevent this, use etcd's own users or
// a separate network. The token of the job is never in etcd.
package etcd
