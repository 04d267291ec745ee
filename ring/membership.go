package ring

import (
	"slices"

	"ringtrain/ring/order"
)

// MaxWorldSize bounds the workers of a job: one message carries the list of all workers to each
// of them. Commands check a world size against it before they do anything else.
const MaxWorldSize = 4096

// Worker is one process of a job, as the rendezvous lists it.
type Worker struct {
	Rank int
	Host string // host name, for the user

	// HostID is equal on workers that can share memory. It is the boot id, a slash and the
	// network namespace, or the value of --host-id. The part before the slash is equal on all
	// workers of one machine.
	HostID string

	Addr        string // host:port on which the worker accepts links
	PID         int
	Incarnation uint64 // random, drawn at start; distinguishes a restarted process from the old one
}

// Membership is the set of workers of one generation, as one of them sees it. It never changes.
type Membership struct {
	JobID      string
	Life       [16]byte // random, equal in all generations that hand their state on
	Generation uint64   // from 1
	Issuer     uint64   // instance of the rendezvous that formed this generation
	Rank       int      // index of this worker in Workers; in a part of the job it is not the rank in the job
	Workers    []Worker
	Order      order.Order // of the ring; the zero Order is that of ranks
	Choices    []Choice    // what the workers agree on
}

// Size returns the world size.
func (m Membership) Size() int { return len(m.Workers) }

// Self returns this worker.
func (m Membership) Self() Worker { return m.Workers[m.Rank] }

// Right returns the neighbour to which this worker sends.
func (m Membership) Right() Worker { return m.Workers[m.Order.At((m.Position()+1)%m.Size())] }

// Left returns the neighbour from which this worker receives.
func (m Membership) Left() Worker {
	return m.Workers[m.Order.At((m.Position()+m.Size()-1)%m.Size())]
}

// ranked returns the worker of m with a rank of the job. ok is false if m has none.
func (m Membership) ranked(rank int) (w Worker, ok bool) {
	i := slices.IndexFunc(m.Workers, func(w Worker) bool { return w.Rank == rank })
	if i < 0 {
		return Worker{}, false
	}
	return m.Workers[i], true
}

// places maps positions in the ring to workers, and back.
type places struct {
	worker   []int // by position
	position []int // by worker
	me       int   // position of this worker
}

// places returns the positions of all workers.
func (m Membership) places() places {
	p := places{make([]int, m.Size()), make([]int, m.Size()), 0}
	for at := range p.worker {
		w := m.Order.At(at)
		p.worker[at], p.position[w] = w, at
	}
	p.me = p.position[m.Rank]
	return p
}

// Position returns this worker's position in the ring.
func (m Membership) Position() int { return m.Order.Position(m.Rank) }

// InRing returns the ranks in the order of the ring and this worker's position: the arguments of
// RingRoute and RoundRoutes. In a part of the job, see Across, they are ranks of the job.
func (m Membership) InRing() (ranks []int, me int) {
	ranks = make([]int, m.Size())
	for at := range ranks {
		ranks[at] = m.Workers[m.Order.At(at)].Rank
	}
	return ranks, m.Position()
}

// Choice is an option on which all workers of a generation agree, although each offers its own
// ways: the highest way that all of them offer. Replicas therefore agree bit for bit on
// different kinds of machines.
type Choice struct {
	Name  string // of the option, such as "kernels"
	Value string
	Was   string // Value of the previous generation; "": the same, or none
	Lacks int    // first rank without the highest way that any worker offers; -1: all have it
}

// Choice returns the choice with this name. Its Value is "" if no worker offers anything.
func (m Membership) Choice(name string) Choice {
	for _, c := range m.Choices {
		if c.Name == name {
			return c
		}
	}
	return Choice{Name: name, Lacks: -1}
}
