package ring

import "errors"

// Transport is what the workers of a group exchange data over. The group closes
// all of it. World size 1 needs none of it.
//
// Flat, all data goes over links: Ring, and for small buffers Rounds. On two
// levels the workers of a host share Memory, and those that Across is given to,
// the drivers, do the part between hosts. If all workers are on one host then
// Memory is all there is.
type Transport struct {
	// Ring joins this worker to its neighbours. It is nil only if all workers
	// share one Memory.
	Ring Link

	// Rounds are the links of recursive doubling, by round; see RoundRoutes. A round
	// that this worker has no part in is nil. Empty: what would take them takes
	// the ring.
	Rounds []Link

	// Memory is shared by the workers of this host. It is nil where all is flat;
	// a worker that is alone on its host may do without.
	Memory Memory

	// Across joins a driver, the i-th worker of its host, to the i-th worker of
	// every other host: see Membership.Across. It has no Memory. There are as
	// many drivers on each host as the host with the fewest workers has workers.
	// It is nil on others, and if there is one host only.
	Across *Transport
}

// close closes all of t.
func (t *Transport) close() error {
	var errs []error
	for _, l := range append([]Link{t.Ring}, t.Rounds...) {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	if t.Memory != nil {
		errs = append(errs, t.Memory.Close())
	}
	if t.Across != nil {
		errs = append(errs, t.Across.close())
	}
	return errors.Join(errs...)
}

// A Route is what one link of a worker joins: whom it sends to and whom it
// receives from, which may be one and the same.
type Route struct {
	Stream   uint8 // tells apart the links between the same two workers
	To, From int   // ranks; -1: nobody
	Shared   bool  // the two answer each other: one connection may serve both directions, as both know
}

// The streams of a worker's links.
const (
	StreamRing   uint8 = 0  // the ring of all workers
	StreamRounds uint8 = 1  // and on: rounds of doubling among all workers
	StreamAcross uint8 = 32 // the ring of the i-th workers of all hosts
	StreamHops   uint8 = 33 // and on: rounds of doubling among those
	StreamSurvey uint8 = 61 // the ring of all workers while the bandwidth between hosts is measured
	StreamPairs  uint8 = 62 // the first workers of two hosts, meanwhile
)
