package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// simulation is a job with its processes and a slow network.
type simulation struct {
	r       *rand.Rand
	s       *State
	c       Config
	now     time.Duration
	size    int
	procs   []*simProcess
	streams map[uint64]*simStream
	last    uint64 // number of the newest stream

	memberships map[uint64][]uint64 // incarnations by rank, of each generation
	cause       *ring.Cause         // cause of the end
	ended       bool                // the owner was told the end
	eager       int                 // how soon a dead rank is started again, of 40
	slow        bool                // no step is ever completed
	unnumbered  bool                // the rendezvous assigns the ranks
	fixed       bool                // a rank always has the same port
	probes      []Probe             // probes without a result yet
	faults      int                 // faults that may use a restart each
	departures  int
	retries     int
	pauses      int // pauses of the rendezvous that are longer than its workers wait

	err  error
	logs bool
	log  []string
}

// simStream is a connection with the messages on their way. Each direction keeps its order.
type simStream struct {
	id     uint64
	p      *simProcess
	up     []Event
	down   []Effect
	told   bool // the last message was sent
	broken bool // the rendezvous has seen the end
}

func newSimulation(seed uint64) *simulation {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &simulation{
		r: r, size: 1 + r.IntN(5), eager: r.IntN(12),
		streams: map[uint64]*simStream{}, memberships: map[uint64][]uint64{},
	}
	w.c = Config{
		DefaultJobID: "job-sim", WorldSize: w.size, StartTimeout: simulatedTimeout, Lease: simulatedLease,
		Restarts: r.IntN(8),
	}
	w.s = New(w.c)
	w.slow, w.unnumbered, w.fixed = r.IntN(4) == 0, r.IntN(6) == 0, r.IntN(2) == 0
	w.start(0)
	for rank := 1; rank < w.size; rank++ {
		if r.IntN(8) != 0 {
			w.start(rank)
		}
	}
	return w
}

func (w *simulation) note(format string, args ...any) {
	if w.logs {
		w.log = append(w.log, fmt.Sprintf(format, args...))
	}
}

func (w *simulation) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *simulation) start(rank int) {
	p := &simProcess{id: uint64(len(w.procs) + 1), rank: rank, alive: true, step: -1}
	if w.unnumbered {
		p.rank = -1
	}
	w.procs = append(w.procs, p)
}

// open connects p. Event e is its first message.
func (w *simulation) open(p *simProcess, e func(id uint64) Event) {
	w.last++
	c := &simStream{id: w.last, p: p}
	c.up = append(c.up, e(c.id))
	w.streams[c.id], p.c = c, c
}

// deliver lets some of the messages arrive.
func (w *simulation) deliver() {
	for id := uint64(1); id <= w.last; id++ { // in order of number: the order of a map would not repeat
		c := w.streams[id]
		if c == nil || w.r.IntN(5) == 0 {
			continue
		}
		for len(c.up) > 0 && w.err == nil && w.r.IntN(4) != 0 && w.streams[id] == c {
			e := c.up[0]
			c.up = c.up[1:]
			if _, ok := e.(StreamBroken); ok {
				c.broken = true
			}
			w.step(e)
		}
		for len(c.down) > 0 && w.err == nil && w.r.IntN(4) != 0 && c.p.c == c && !c.p.frozen {
			f := c.down[0]
			c.down = c.down[1:]
			c.p.hear(w, f)
		}
		if c.broken {
			delete(w.streams, id)
		}
	}
}

// hangUp closes the connection of p.
func (w *simulation) hangUp(p *simProcess) {
	if p.c != nil {
		p.c.up = append(p.c.up, StreamBroken{p.c.id, "connection reset"})
		p.c = nil
	}
}

// oneCause checks that all workers hear one cause.
func (w *simulation) oneCause(c *ring.Cause) {
	if w.cause == nil {
		w.cause = c
	}
	if w.cause.Text != c.Text || w.cause.ExitCode != c.ExitCode {
		w.fail("a second cause: %v after %v", c, w.cause)
	}
}

// pause lets the rendezvous stand still. Its workers give it up and end. Some may be killed
// meanwhile.
func (w *simulation) pause() {
	length := w.s.lease + time.Duration(w.r.IntN(15_000))*time.Millisecond
	w.note("%v the rendezvous stands still for %v", w.now, length)
	w.pauses++
	w.now += length
	if w.r.IntN(3) == 0 {
		if p := w.procs[w.r.IntN(len(w.procs))]; p.alive {
			w.kill(p, false)
		}
	}
	for _, p := range w.procs {
		if !p.alive || p.frozen || p.c == nil {
			continue
		}
		p.alive = p.generation == 0 // a joining worker tries again
		w.faults++
		w.hangUp(p)
	}
}

// strike lets a fault happen, or starts a process.
func (w *simulation) strike() {
	p := w.procs[w.r.IntN(len(w.procs))]
	if w.r.IntN(120) == 0 {
		w.pause()
	}
	switch n := w.r.IntN(40); {
	case n < w.eager:
		w.revive()
	case !p.alive:
	case n == 20:
		w.kill(p, w.r.IntN(2) == 0)
	case n == 21 && w.r.IntN(3) == 0:
		p.frozen = true
		w.faults++
	case n == 22:
		for _, q := range w.procs {
			q.frozen = false
		}
	case n == 23 && w.r.IntN(8) == 0 && p.c != nil:
		p.say(Aborted{p.c.id, &ring.Cause{Rank: p.rank, Text: "own fault", ExitCode: 65}})
	case n == 24 && p.doing == training && w.size > 1 && w.r.IntN(2) == 0:
		if p.blame((p.rank + 1 + w.r.IntN(w.size-1)) % w.size) {
			w.faults++
		}
	case n == 25 && w.r.IntN(3) == 0:
		p.code = exitcode.Terminated
	case n == 26 && w.r.IntN(20) == 0:
		w.step(StopAll{exitcode.Terminated})
	case n == 27 && w.r.IntN(6) == 0:
		w.finishAll()
	case n >= 29 && n < 32 && p.doing == joining && p.c != nil && !p.frozen: // the answer is lost, and the worker tries again
		w.hangUp(p)
		w.retries++
		w.faults++
	}
}

// revive starts a process for a rank without one.
func (w *simulation) revive() {
	alive := 0
	for _, p := range w.procs {
		if p.alive {
			alive++
		}
	}
	for rank := range w.size {
		has := slices.ContainsFunc(w.procs, func(p *simProcess) bool { return p.rank == rank && p.alive })
		if w.unnumbered {
			has = alive >= w.size
		}
		if double := w.r.IntN(60) == 0 && !w.fixed; !has || double { // a port in use prevents the second process

			w.start(rank)
			return
		}
	}
}

// kill ends a process; a launcher may see the end. The others see its closed link, or that of a
// rank that has seen it before.
func (w *simulation) kill(p *simProcess, seen bool) {
	p.alive = false
	w.faults++
	w.note("%v process %d of rank %d is killed", w.now, p.id, p.rank)
	if p.doing == training && w.r.IntN(2) == 0 {
		met := []int{p.rank}
		for _, q := range w.procs {
			if q.generation == p.generation && !q.frozen && q.blame(met[w.r.IntN(len(met))]) {
				met = append(met, q.rank)
			}
		}
	}
	member := p.c != nil && w.s.byStream[p.c.id] != nil
	w.hangUp(p)
	twin := slices.ContainsFunc(w.procs, func(q *simProcess) bool { return q.alive && q.rank == p.rank })
	if seen && p.rank >= 0 && (member || !twin) {
		if !member {
			w.faults++ // its join may be on the way, and count as another loss
		}
		w.step(ProcessExited{p.rank, "killed by signal 9", exitcode.Retry, false})
	}
}

// countSlow counts the healthy members that a tick has lost: the network was too slow for them.
func (w *simulation) countSlow(here []*member) {
	lost := slices.DeleteFunc(here, func(m *member) bool { return slices.Contains(w.s.members, m) })
	if w.s.phase == phaseFinished {
		lost = slices.Concat(lost, w.s.silentMembers(), w.s.lateMembers())
	}
	for _, m := range lost {
		if p := w.procs[m.Worker.Incarnation-1]; p.alive && !p.frozen {
			w.faults++
		}
	}
}

// addr returns the address at which a process listens.
func (w *simulation) addr(p *simProcess) string {
	if w.fixed && !w.unnumbered {
		return fmt.Sprint("port of rank ", p.rank)
	}
	return fmt.Sprint("port of process ", p.id)
}

// answer answers a probe.
func (w *simulation) answer() {
	if len(w.probes) == 0 || w.r.IntN(3) == 0 {
		return
	}
	f := w.probes[0]
	w.probes = w.probes[1:]
	w.step(Probed{f.Rank, "probed"})
}

// finishAll lets the newest generation reach the end of its work.
func (w *simulation) finishAll() {
	for _, p := range w.procs {
		if p.doing == training && p.generation == w.s.generation {
			p.done = true
		}
	}
}
