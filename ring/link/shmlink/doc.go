// Package shmlink implements [ring.Memory] for separate processes of one Linux host.
//
// The lowest rank of the host is the leader. The other workers, the members, connect to the
// leader once. Descriptors of memory and the news of a worker's end travel over these
// sockets. Sync and the reads of other workers' buffers use no socket.
//
//	member ──┐                        exchange buffer, mapped by all
//	member ──┤ unix sockets           ┌────────┬──────────┬─────────┬─────────┬──
//	member ──┼──► leader              │ events │ sleepers │ rank 0  │ rank 1  │ …
//	member ──┘                        └────────┴──────────┴─────────┴─────────┴──
//	  ◄── descriptors of memory       arena, mapped by all
//	  ◄─► ends of workers             ┌─────────────┬─────────────┬──
//	                                  │ of rank 0   │ of rank 1   │ …
//	                                  └─────────────┴─────────────┴──
//
// # Joining
//
// The leader listens on an abstract unix socket. Its name is a hash of job, fence
// (ring.Fence), and the ranks and incarnations of all workers of the host, so no other group
// uses it by mistake. Members dial until their context ends. Both sides prove the token by the exchange
// of ring/token, and the socket takes part in the seats of the leader's port. Then the kernel says whose
// process is at the other end (SO_PEERCRED): all workers must have one effective user id.
//
// When its context ends, the leader tells the members that have joined who is missing. The
// members listen for a second longer than their own context: else they would blame the
// leader.
//
// # Memory
//
// The leader creates a memfd for the exchange buffer and one for each arena. It seals their
// size and passes the descriptors with SCM_RIGHTS. Each worker maps the memory, touches its
// own part first, so that the part is near its core, and tells the leader. When all have done
// so, the leader tells all to continue. A failure on one worker is therefore the same error
// on all.
//
// Workers close the descriptors once the memory is mapped, and abstract sockets have no file.
// A killed process therefore leaves nothing behind, and the kernel frees the memory with the
// last process that has mapped it.
//
// # Sync
//
// Each worker counts its arrivals in the exchange buffer, on two cache lines of its own that
// it uses in turn. It waits until no other worker's count is behind. If each worker has a
// core, it first checks the counts in a loop for about a microsecond. Then it yields its core
// between two checks (sched_yield). Then it sleeps (futex), for at most 50 ms at a time. The
// last worker to arrive makes a system call only if a worker sleeps. A loop without a core
// for each worker costs more than it gains, so each worker tells the leader its affinity when
// it joins.
//
// Programs of others may use the cores. A yield then lasts for one of their time slices, some
// milliseconds. After one such yield a worker sleeps at once in its next waits, because the
// system wakes a thread that used little of its core before those programs.
//
// Exchange is a Sync that also carries the [ring.BarrierPayload] of each worker, on the cache line of
// its count. Count, notice and elements of a small sum so cost one cache miss for each worker.
//
// A worker compares the values in the exchange buffer, or passes them to package ring, which
// checks them. It never uses them as an index or a length. A member maps memory of the
// expected size only. A faulty worker can therefore spoil sums and end waits, but not more.
//
// # End of a worker
//
// A socket ends when its process does, in any way; with a core dump, after that. The other
// side of the socket records the end in the exchange buffer, which ends the Sync of all
// workers. A worker that is interrupted or closed records its own end first. The errors
// differ: "its process has ended", "it has left". A worker that is alive but silent ends
// no Sync; the caller decides with Interrupt how long to wait.
//
// The leader watches the members, and the members watch the leader. While the leader is
// stopped (SIGSTOP), no worker notices the end of a member.
//
// # Limits
//
// Workers can share memory if they have one kernel and one network namespace, to which
// abstract sockets belong. Containers with network namespaces of their own are separate
// hosts. Containers that share one are one host, even with separate pid, mount and user
// namespaces. Workers with the same HostID that cannot connect wait until the context ends.
//
// An old kernel, a seccomp filter or a security module may refuse memfd_create, mmap, unix
// sockets or the passing of descriptors. Open then returns [ErrUnavailable] on all workers,
// and the caller uses links. One case is not covered: if one worker may not use unix sockets
// at all, the others wait for it until the context ends.
//
// The race detector does not track mapped memory. It sees neither races on an arena nor the
// order that Sync establishes. Other data that workers of one process share needs its own
// synchronization in tests.
package shmlink
