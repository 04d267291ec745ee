// Package join brings a worker from its place to a group: it finds the other workers of the
// job, opens the links to its neighbours, and forms a ring.Group.
//
// [Join] is all that most programs need. A program under any launcher, or with a place of
// its own making, gets a group and closes it:
//
//	g, err := join.Join(ctx, join.Options{})
//	if err != nil {
//		return err
//	}
//	defer g.Close()
//	return g.AllReduce(ctx, ring.Reduction{Buf: gradients})
//
// # Meeting
//
// [Meet] is for a worker that survives the loss of others. It works in this order:
//
//	listen          the one port, for links and for the rendezvous
//	serve           the rendezvous, if the place says so
//	join            the rendezvous returns the membership of the first generation
//	order           by hosts, by rank, or as given
//	links           to the neighbours of the order, and memory shared with the host
//	group           ring.New
//
// The result, a [Team], lasts for one generation. It ends by [Team.Leave], by [Team.Abort]
// with the first cause, or by [Team.Next], which returns the team of the next generation:
//
//	Meet ──► Team 1 ──a worker is lost──► Next ──► Team 2 ──► Leave ──► Close
//
// [Gather] stops after the rendezvous, for a program that wants to know which links are
// possible. [Report] is for a worker that cannot come: it tells the others why.
//
// # The rendezvous
//
// Two kinds of process serve it: rank 0, where its place says so, or a process that is no
// worker, by [Serve]. The launcher and the command rendezvous are of the second kind.
//
// # Errors
//
// The error of a failed meeting holds the *ring.Cause that came first among all workers and
// has its exit code. A port in use, a missing token and a wrong token concern one worker
// alone: they end the others, if at all, with exitcode.Retry.
package join
