package ring

import (
	"slices"
	"strings"
)

// MaxWorldSize bounds the workers of a job: a roster of so many goes to each of them in
// one message. Whoever starts ranks, is one, or serves their rendezvous reports a larger
// world size before anything else.
const MaxWorldSize = 4096

// Worker is one process of a job, as the rendezvous lists it.
type Worker struct {
	Rank        int
	Host        string // host name, for people
	HostID      string // boot id "/" network namespace, unless --host-id says: equal on workers that can share memory, up to the slash on those of one machine
	Addr        string // host:port where the worker takes links
	PID         int
	Incarnation uint64 // drawn at start; tells a restarted process from its predecessor
}

// Membership is the set of workers of one generation, seen from one of them.
// It never changes.
type Membership struct {
	JobID      string
	Generation uint64 // from 1
	Rank       int    // this worker's: its place in Workers, which on a part of the job is not its rank in the job
	Workers    []Worker
	Order      Order    // of the ring; the zero Order is that of ranks
	Choices    []Choice // what all workers have in common of what they offered
}

// Size returns the world size.
func (m Membership) Size() int { return len(m.Workers) }

// Self returns this worker.
func (m Membership) Self() Worker { return m.Workers[m.Rank] }

// Right returns the neighbour that this worker sends to.
func (m Membership) Right() Worker { return m.Workers[m.workerAt((m.Position()+1)%m.Size())] }

// Left returns the neighbour that this worker receives from.
func (m Membership) Left() Worker {
	return m.Workers[m.workerAt((m.Position()+m.Size()-1)%m.Size())]
}

// Hosts returns the number of hosts.
func (m Membership) Hosts() int {
	ids := map[string]bool{}
	for _, w := range m.Workers {
		ids[w.HostID] = true
	}
	return len(ids)
}

// A Spread says how workers are spread over hosts and machines. Containers and
// pods are hosts of their own, and share the cores of their machine.
type Spread struct {
	Workers    int
	PerHost    int // the most that a host has
	PerMachine int // the most that a machine has
}

// Spread returns how m's workers are spread.
func (m Membership) Spread() Spread {
	s := Spread{Workers: m.Size()}
	host, machine := map[string]int{}, map[string]int{}
	for _, w := range m.Workers {
		boot, _, _ := strings.Cut(w.HostID, "/")
		host[w.HostID]++
		machine[boot]++
		s.PerHost, s.PerMachine = max(s.PerHost, host[w.HostID]), max(s.PerMachine, machine[boot])
	}
	return s
}

// ranked returns the worker that has a rank in the job, if it is one of m's.
func (m Membership) ranked(rank int) (Worker, bool) {
	i := slices.IndexFunc(m.Workers, func(w Worker) bool { return w.Rank == rank })
	if i < 0 {
		return Worker{}, false
	}
	return m.Workers[i], true
}

// Local returns this worker's number among the workers of its host, in order
// of rank, and how many those are.
func (m Membership) Local() (rank, size int) {
	for i, w := range m.Workers {
		if w.HostID != m.Self().HostID {
			continue
		}
		if i < m.Rank {
			rank++
		}
		size++
	}
	return rank, size
}
