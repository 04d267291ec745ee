package ring

import (
	"slices"

	"ringtrain/ring/order"
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
	Order      order.Order // of the ring; the zero Order is that of ranks
	Choices    []Choice    // what all workers have in common of what they offered
}

// Size returns the world size.
func (m Membership) Size() int { return len(m.Workers) }

// Self returns this worker.
func (m Membership) Self() Worker { return m.Workers[m.Rank] }

// Right returns the neighbour that this worker sends to.
func (m Membership) Right() Worker { return m.Workers[m.Order.At((m.Position()+1)%m.Size())] }

// Left returns the neighbour that this worker receives from.
func (m Membership) Left() Worker {
	return m.Workers[m.Order.At((m.Position()+m.Size()-1)%m.Size())]
}

// ranked returns the worker that has a rank in the job, if it is one of m's.
func (m Membership) ranked(rank int) (Worker, bool) {
	i := slices.IndexFunc(m.Workers, func(w Worker) bool { return w.Rank == rank })
	if i < 0 {
		return Worker{}, false
	}
	return m.Workers[i], true
}

// places tells workers from positions, and back.
type places struct {
	worker   []int // by position
	position []int // by worker
	me       int   // this worker's position
}

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

// InRing returns the ranks in the order of the ring, and this worker's position:
// what RingRoute and RoundRoutes take. On a part of the job, see Across, they are
// ranks of the job.
func (m Membership) InRing() (ranks []int, me int) {
	ranks = make([]int, m.Size())
	for at := range ranks {
		ranks[at] = m.Workers[m.Order.At(at)].Rank
	}
	return ranks, m.Position()
}

// A Choice is one thing that comes in several ways, as all workers of a generation have it: the
// highest way that each of them offers. So replicas agree bit for bit also where hosts differ.
type Choice struct {
	Name  string // of what is chosen, such as "kernels"
	Value string
	Was   string // Value in the generation before; "": the same, or there was none
	Lacks int    // the first rank that lacks the highest way which any worker offers; -1: no rank does
}

// Choice returns the choice of that name; its Value is "" if nobody has offered anything.
func (m Membership) Choice(name string) Choice {
	for _, c := range m.Choices {
		if c.Name == name {
			return c
		}
	}
	return Choice{Name: name, Lacks: -1}
}
