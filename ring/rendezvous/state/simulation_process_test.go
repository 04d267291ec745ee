package state

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// simProcess is the process of a rank, with what it knows.
type simProcess struct {
	id         uint64 // incarnation
	rank       int
	alive      bool
	frozen     bool       // stopped by SIGSTOP
	c          *simStream // nil without one
	generation uint64     // newest generation whose membership it received
	doing      doing
	step       int64
	code       int         // exit code of a signal; 0: none
	asked      bool        // it has sent leaving in this generation
	alone      bool        // it may leave alone
	done       bool        // its work is done
	said       bool        // it has sent its last message in this generation: leave, ready or blame
	blames     *ring.Cause // the cause with which it blamed another
}

type doing int

const (
	joining  doing = iota // waits for its first generation
	training              // in a generation
	leaving               // leaves its group: the generation has ended
	ready                 // waits for the next generation
)

func (p *simProcess) say(e Event) { p.c.up = append(p.c.up, e) }

// act does what a process does by itself.
func (p *simProcess) act(w *simulation) {
	switch {
	case !p.alive || p.frozen:
		return
	case p.c == nil && p.generation > 0:
		p.alive = false // the process has lost the rendezvous
		return
	case p.c == nil:
		p.connect(w)
		return
	}
	if p.doing == training && !p.said && !w.slow {
		p.step += int64(w.r.IntN(2))
	}
	p.say(Heartbeat{Stream: p.c.id, Step: p.step, Phase: "train", Wait: ring.Wait{Peer: -1}})
	switch {
	case p.doing == leaving && w.r.IntN(3) == 0:
		p.doing = ready
		p.say(ReadyForNext{p.c.id, p.generation, p.step})
	case p.doing != training || p.said:
	case p.done:
		p.said = true
		p.say(Left{p.c.id})
	case p.alone:
		p.depart(w)
	case p.code != 0 && !p.asked:
		p.asked = true
		p.say(LeaveRequested{p.c.id, p.code})
	}
}

// connect joins.
func (p *simProcess) connect(w *simulation) {
	j := Request{Rank: p.rank, WorldSize: w.size, Protocol: 1, Offers: []Offer{{"kernels", kernelSets[:kernels(p.id)]}}, Worker: ring.Worker{HostID: "h", Addr: w.addr(p), PID: int(p.id), Incarnation: p.id}}
	w.open(p, func(id uint64) Event { return Joined{id, j} })
}

var kernelSets = []string{"portable", "avx2", "avx512"}

// kernels returns how many of kernelSets all given processes have.
func kernels(incarnations ...uint64) int {
	n := len(kernelSets)
	for _, id := range incarnations {
		n = min(n, 1+int(id%5)%3)
	}
	return n
}

// blame reports a failed exchange with another rank, if p is in a generation.
func (p *simProcess) blame(other int) bool {
	if !p.alive || p.c == nil || p.doing != training || p.said {
		return false
	}
	p.said, p.blames = true, &ring.Cause{Rank: other, Text: "blamed by another", ExitCode: exitcode.Retry}
	p.say(Aborted{p.c.id, p.blames})
	return true
}

// depart agrees on a step after which p leaves: p sends leave, and the others of its generation
// send parted.
func (p *simProcess) depart(w *simulation) {
	var others []*simProcess
	for _, q := range w.procs {
		if q.alive && q != p && q.generation == p.generation {
			if q.frozen || q.doing != training || q.said || q.c == nil || q.alone {
				return // no step is completed without q, or all leave
			}
			others = append(others, q)
		}
	}
	if len(others) != w.size-1 {
		return
	}
	p.said, p.done = true, true
	p.say(Left{p.c.id})
	for _, q := range others {
		q.said, q.step = true, p.step
		q.say(Parted{q.c.id, q.generation, q.step})
	}
	w.departures++
	w.faults++
}

// hear takes in a message and checks it against what p knows.
func (p *simProcess) hear(w *simulation, f Effect) {
	if !p.alive {
		return
	}
	switch f := f.(type) {
	case SendMembership:
		p.begin(w, f)
	case SendEndGeneration:
		if f.Generation == p.generation && p.doing == training {
			p.doing, p.said, p.done, p.blames = leaving, false, false, nil
		}
	case SendStop:
		p.done = true
	case SendLeaveAlone:
		p.alone = true
	case SendRefused:
		if f.Worker.Incarnation == p.id && (strings.Contains(f.Cause.Text, "another stream") || strings.Contains(f.Cause.Text, fmt.Sprintf("taken by pid %d ", p.id))) {
			w.fail("process %d of rank %d is refused for its own other try: %v", p.id, p.rank, f.Cause)
		}
		p.alive = false
		w.hangUp(p)
	case SendAbort, SendEnd:
		p.alive = false
		w.hangUp(p)
	}
}

// begin checks that the generation is new to p, that p waits for one, and that all workers get the
// same membership.
func (p *simProcess) begin(w *simulation, f SendMembership) {
	m := f.Membership
	if m.Generation <= p.generation || p.doing == training || p.rank >= 0 && m.Rank != p.rank || len(m.Workers) != w.size {
		w.fail("process %d of rank %d, in generation %d and doing %d, gets %+v", p.id, p.rank, p.generation, p.doing, m)
		return
	}
	var list []uint64
	for _, o := range m.Workers {
		list = append(list, o.Incarnation)
	}
	p.rank = m.Rank
	if known := w.memberships[m.Generation]; known != nil && !slices.Equal(known, list) {
		w.fail("generation %d is of %v and of %v", m.Generation, known, list)
	}
	if list[p.rank] != p.id {
		w.fail("process %d is told that rank %d is %d's", p.id, p.rank, list[p.rank])
	}
	if got, want := m.Choice("kernels").Value, kernelSets[kernels(list...)-1]; got != want {
		w.fail("generation %d of %v has kernels %s, want %s", m.Generation, list, got, want)
	}
	w.memberships[m.Generation] = list
	p.generation, p.doing, p.asked, p.said, p.done = m.Generation, training, false, false, false
}
