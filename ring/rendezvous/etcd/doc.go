// Package etcd lets the workers of a job find their rendezvous, and keeps its
// journal, in an etcd cluster (version 3.4 or newer).
//
// etcd does not replace the rendezvous: one of the workers serves it, beside its
// work. Any of them can. What is kept, below a prefix of the user's:
//
//	PREFIX/JOB/coordinator        host:port of the worker that serves the rendezvous,
//	                              with a lease of 5 s
//	PREFIX/JOB/journal/00000001   the records, in the order in which they were kept
//	PREFIX/JOB/journal/00000002
//	…
//
// JOB is the job's id, escaped as in a URL.
//
// # Fencing
//
// A worker becomes the coordinator by creating the first key. The revision of that
// is its fencing token: each entry of the journal is put by a transaction which
// compares it. A process that was paused for longer than its lease, and wakes, can
// therefore write nothing, and what is not written nobody hears of. The lease itself
// makes nothing safe; it only ends the wait for one that has died.
//
// # Campaigns
//
// A worker campaigns only when it has lost the rendezvous. So a coordinator that works
// stays, whatever becomes of its lease. A member of the job's last generation campaigns at
// once. A fresh worker, which is of no generation yet, may be a rank that was started
// twice, or the successor of one that is lost: the coordinator may have lost etcd alone.
// So a fresh worker first calls the members that the journal names, unless the job has
// ended, and does not campaign while one of them proves the token and says that it is in a
// generation of this job. It campaigns at once where nobody listens in their places, or
// workers do that are as fresh. Members that do not answer may be stopped, or their hosts
// gone or cut off: it waits for an answer, for three leases of the workers (15 s) in all.
//
// # Who looks on
//
// A [Follower] reads the coordinators' keys below the prefix, asks them, and so goes
// on with the next one when one dies. It writes nothing; a user who may read is
// enough. That a job has ended it takes from the journal alone: a coordinator that
// is gone is no end.
//
// # When etcd is away
//
// Training goes on. If the coordinator has something to keep meanwhile, which is
// a change of the workers or the end, it gives the office up; the workers look for
// another until etcd is back, for as long as they wait for ranks. The end of a job
// alone needs no etcd. An etcd that returns gives leases their full time again, so
// that all in all it takes up to 8 s more.
//
// # Limits
//
// A job leaves its journal behind, of some KiB; the next job with its id begins
// with removing it. If all workers of a job die at once, it has not ended: who
// starts it again within that journal is told that they are lost, with exit code
// 138, once, and 15 s later where their hosts do not answer. Who may write to the prefix can end the job: that is a matter of etcd's
// own users, or of a network of its own. The token of the job is never in etcd.
package etcd
