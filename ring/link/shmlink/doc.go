// Package shmlink gives the workers of one host memory in common: it is the
// [ring.Memory] of separate processes, and needs Linux.
//
// The lowest rank of the host is the leader. The others, the members, connect
// to it once, and that is how memory and bad news travel; what the workers do
// step by step, Sync and the reading of each other's buffers, touches no socket.
//
//	member ──┐                        control page, mapped by all
//	member ──┤ unix sockets           ┌────────┬──────────┬─────────┬─────────┬──
//	member ──┼──► leader              │ events │ sleepers │ rank 0  │ rank 1  │ …
//	member ──┘                        └────────┴──────────┴─────────┴─────────┴──
//	  ◄── descriptors of memory       arena, mapped by all
//	  ◄─► what became of whom         ┌─────────────┬─────────────┬──
//	                                  │ of rank 0   │ of rank 1   │ …
//	                                  └─────────────┴─────────────┴──
//
// # Meeting
//
// The leader listens on an abstract unix socket. Its name is a hash of job,
// generation, and rank and incarnation of all workers of the host, so nobody
// else can meet there by mistake. Members try until their context ends. Both
// sides prove the token over fresh nonces, the leader first; without a token
// any process of the host that knows the name may join, as it may over loopback.
//
// If time runs out the leader tells the members that have come who has not, and
// these listen for that a second longer: they would blame the leader.
//
// # Memory
//
// The leader makes a memfd for the control page and one for each arena, of a
// size that nobody can change any more, and passes it on with SCM_RIGHTS. Each
// worker maps it, touches its own part first, so that it lies near its core, and
// tells the leader; only when all have done so does the leader tell all to go
// on. Whatever fails on one worker is therefore the same error on all of them.
// Huge pages, and parts that begin at other than whole pages, made no difference
// that could be measured, and are not asked for.
//
// Descriptors are closed as soon as the memory is mapped, and abstract sockets
// have no file: a process that is killed leaves nothing behind, and the memory is
// gone with the last process that has it mapped.
//
// # Sync
//
// Each worker counts its own arrivals on cache lines of its own, two in turn, and
// waits until no other count is behind: it looks again and again for a microsecond
// if the workers have a core each, then gives its core away between two looks
// (sched_yield), then sleeps (futex), 50 ms at most at a time. The last one to
// arrive makes a system call only if somebody sleeps. Spinning without a core each
// costs more than it gains, so the workers tell the leader which cores they may
// use when they meet.
//
// Exchange is a Sync that also carries a [ring.Slip] of each worker, on the cache
// line of its count. With two workers on two cores a sum of 8 bytes took 0.31 µs
// when count, notice and elements lay on three lines, and 0.22 so.
//
// What lies in the control page is compared, or handed on as bytes that package
// ring judges, and never used as an index or a length; and a member takes no
// memory but of the size that it must have: a worker gone wild may spoil sums and
// end waits, no more.
//
// # Ends
//
// A socket ends when its process does, in whatever way (if it writes a core,
// then after that). Its other side notes that in the control page, which ends
// everybody's Sync. A worker that is interrupted or closed notes that itself
// before, so the two can be told apart: "its process has ended", "it has left". A
// worker that is alive but silent ends nothing; that is the business of whoever
// calls Interrupt.
//
// The leader watches the members and they watch the leader, so while the leader
// is stopped (SIGSTOP) nobody notices that a member died.
//
// # Limits
//
// Workers can share memory if they have one kernel and one network namespace:
// abstract sockets belong to the latter. Containers with network namespaces
// of their own are hosts of their own; those that share one work, with separate
// pid, mount and user namespaces as well. Workers that are told to be one host
// (the same HostID) and cannot meet wait until the context ends.
//
// Where memfd_create, the passing of descriptors, mmap or unix sockets are
// refused or missing, by an old kernel, a seccomp filter or a security module,
// Open returns [ErrUnavailable] on all workers and the caller takes links. One
// thing cannot be agreed on: if a worker may not use unix sockets at all and others
// may, these wait for it until the context ends.
//
// The race detector knows nothing of mapped memory. It neither sees races on an
// arena nor that Sync orders anything; what workers of one process share
// besides needs its own synchronization under test.
package shmlink
