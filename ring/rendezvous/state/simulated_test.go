package state

import (
	"fmt"
	"slices"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// dialsAfter is the longest pause between two attempts of a worker.
const dialsAfter = 250 * time.Millisecond

// simServer is a process of the rendezvous.
type simServer struct {
	id         uint64
	s          *State
	born       time.Duration // time 0 of its clock
	started    time.Duration
	stillUntil time.Duration
	diesAt     time.Duration // 0: when something ends it
	ended      bool          // its job has ended, or it has
	gone       bool          // its process has ended
	goneAt     time.Duration
	streams    map[uint64]*simStream
	probes     []Probe
}

// runs reports whether the rendezvous acts now. One that has ended stays to tell its workers.
func (s *simServer) runs(w *world) bool {
	if !s.gone && (s.ended && w.r.IntN(20) == 0 || s.diesAt != 0 && w.now >= s.diesAt) {
		s.die(w)
	}
	return !s.gone && w.now >= s.stillUntil
}

// die ends the process.
func (s *simServer) die(w *world) {
	w.note("rendezvous %d ends", s.id)
	s.gone, s.goneAt = true, w.now
	for _, c := range s.streams {
		c.cut()
	}
}

func (s *simServer) send(w *world, id uint64, f Effect) {
	c := s.streams[id]
	if c == nil {
		w.fail("rendezvous %d: %T for stream %d, which is gone", s.id, f, id)
		return
	}
	c.down = append(c.down, f)
}

// answer answers a probe.
func (s *simServer) answer(w *world) {
	if len(s.probes) == 0 || w.r.IntN(3) == 0 {
		return
	}
	f := s.probes[0]
	s.probes = s.probes[1:]
	e := Probed{Rank: f.Rank, Incarnation: f.Incarnation, Refused: true}
	for _, p := range w.procs {
		if !p.alive || p.addr(w) != f.Addr {
			continue
		}
		if w.dark(p, s) || p.frozen {
			return
		}
		e.Refused, e.Owner = false, p.incarnation(w)
		if p.stream != nil {
			e.Follows = p.stream.server.id
		}
		break
	}
	w.step(s, e)
}

// simStream is a connection with the messages on their way. Each direction keeps its order.
type simStream struct {
	id     uint64
	server *simServer
	p      *simProcess
	up     []Event
	down   []Effect
	closed bool
	opened time.Duration
}

// begins reports whether the next message is the first one, which a dial has waited for.
func (s *simStream) begins() bool {
	if len(s.up) == 0 {
		return false
	}
	_, ok := s.up[0].(Resumed)
	return ok
}

// cut breaks the connection for both ends.
func (s *simStream) cut() {
	if !s.closed {
		s.closed = true
		s.up = append(s.up, StreamBroken{Stream: s.id, Reason: "connection reset"})
		s.down = s.down[:0:0]
	}
	if s.p.stream == s {
		s.p.stream = nil
	}
}

// simProcess is the process of a rank, with what it knows.
type simProcess struct {
	id        uint64 // incarnation
	rank      int
	alive     bool
	frozen    bool // stopped by SIGSTOP
	darkUntil time.Duration
	heldBack  time.Duration                // until then it was dark or stopped
	blind     map[*simServer]time.Duration // until then its path to a rendezvous is dark
	stream    *simStream                   // nil without one
	record    Record
	doing     Doing
	group     ring.Fence // of the group that it is in
	members   []uint64   // of that group
	inGroup   bool       // the group is open
	leaving   bool       // it has heard that the generation has ended
	step      int64
	blames    *ring.Cause
	told      bool          // it has been sent the end
	since     time.Duration // start of its wait
}

// darken makes the path of the process dark for a while.
func (p *simProcess) darken(w *world) {
	p.darkUntil = w.now + time.Duration(w.r.IntN(9000))*time.Millisecond
	p.heldBack = max(p.heldBack, p.darkUntil)
}

// thaw lets a stopped process go on.
func (p *simProcess) thaw(w *world) {
	if p.frozen {
		p.frozen, p.heldBack = false, max(p.heldBack, w.now)
	}
}

// trains reports whether the process takes part in the operations of its group.
func (p *simProcess) trains() bool { return p.alive && !p.frozen && p.inGroup && p.blames == nil }

// incarnation returns the number that distinguishes the process from others of its rank.
func (p *simProcess) incarnation(w *world) uint64 {
	if w.noIncarnation {
		return uint64(p.rank + 1)
	}
	return p.id
}

func (p *simProcess) addr(w *world) string {
	if w.fixed {
		return fmt.Sprintf("rank%d:1", p.rank)
	}
	return fmt.Sprintf("process%d:1", p.id)
}

func (p *simProcess) say(e Event) {
	if p.stream != nil {
		p.stream.up = append(p.stream.up, e)
	}
}

// act does what a process does by itself.
func (p *simProcess) act(w *world) {
	if !p.alive || p.frozen {
		return
	}
	waits := p.record.Fence.Generation == 0 || p.doing == OutOfGroup
	if waits && w.now-p.since > simulatedTimeout+simulatedLease { // nobody answers
		w.gaveUp = true
		p.end(w)
		return
	}
	if p.stream != nil && w.now-p.stream.opened > 2*time.Second && (p.stream.server.stillUntil > w.now || w.dark(p, p.stream.server)) {
		p.stream.cut() // its beats are not heard
	}
	if p.stream == nil {
		p.connect(w)
		return
	}
	whole := p.record.Fence.Generation > 0 && p.record.Whole.Fence == p.record.Fence
	p.say(Heartbeat{Stream: p.stream.id, Step: p.step, Whole: whole, Phase: "train", Wait: ring.Wait{Peer: -1}})
	if w.readyFirst && p.leaving && p.doing == InGroup {
		p.out(w)
	}
	if p.leaving && w.r.IntN(3) == 0 {
		p.leaving, p.inGroup = false, false
		if p.doing == InGroup {
			p.out(w)
		}
	}
}

// out says that the process is out of its group.
func (p *simProcess) out(w *world) {
	p.doing, p.blames, p.since = OutOfGroup, nil, w.now
	p.say(ReadyForNext{p.stream.id, p.record.Fence.Generation, p.step})
}

// connect dials a rendezvous that serves: joins, or resumes and repeats what was not answered.
func (p *simProcess) connect(w *world) {
	var open []*simServer
	for _, v := range w.servers {
		late := w.now-v.born < dialsAfter && w.r.IntN(2) == 0 // it dials again and again, with pauses
		if !v.gone && w.now >= v.stillUntil && !w.dark(p, v) && !late {
			open = append(open, v)
		}
	}
	if len(open) == 0 || p.record.Fence.Generation == 0 && w.r.IntN(3) == 0 {
		return
	}
	v := open[w.r.IntN(len(open))]
	w.last++
	p.stream = &simStream{id: w.last, server: v, p: p, opened: w.now}
	v.streams[w.last] = p.stream
	r := Request{Rank: p.rank, WorldSize: w.size, Protocol: 1, Worker: ring.Worker{Rank: p.rank, Addr: p.addr(w), PID: int(p.id), Incarnation: p.incarnation(w)}}
	if p.record.Fence.Generation == 0 {
		p.say(Joined{p.stream.id, r})
		return
	}
	known := p.record
	if w.noTaken {
		known.Taken = nil
	}
	p.say(Resumed{p.stream.id, r, known, p.doing})
	if p.blames != nil && p.doing == InGroup {
		p.say(Aborted{p.stream.id, p.blames})
	}
}

// blame reports a member of the group that does not take part any more.
func (p *simProcess) blame(w *world) {
	for rank, id := range p.members {
		q := w.owner(p.group, rank, id)
		if q == p || q.alive && !Newer(q.record.Fence, p.group) && !(q.group == p.group && !q.inGroup) {
			continue
		}
		p.blames = &ring.Cause{Rank: rank, Step: p.step, Text: "peer closed the link", ExitCode: exitcode.Retry}
		p.say(Aborted{orZero(p.stream), p.blames})
		return
	}
}

func orZero(c *simStream) uint64 {
	if c == nil {
		return 0
	}
	return c.id
}

// hear takes in a message.
func (p *simProcess) hear(w *world, f Effect) {
	switch f := f.(type) {
	case SendMembership:
		p.take(w, f)
	case SendEndGeneration:
		if f.Fence != p.record.Fence {
			return
		}
		p.record.Ended, p.record.Lost, p.record.Cause = true, f.Incarnations, f.First
		p.leaving = p.doing == InGroup
	case SendRefused:
		if f.Replaced {
			p.stream.cut()
			return
		}
		p.end(w)
	case SendAbort, SendEnd:
		p.end(w)
	}
}

// end ends the process by what it has heard.
func (p *simProcess) end(w *world) {
	w.note("process %d of rank %d ends", p.id, p.rank)
	p.alive = false
	w.faults++
	if p.stream != nil {
		p.say(EndConfirmed{p.stream.id})
		p.stream.cut()
	}
}

// take takes a membership, if the process is out of its group and the generation is newer and names
// it.
func (p *simProcess) take(w *world, f SendMembership) {
	m := f.Membership
	waits := p.record.Fence.Generation == 0 || p.doing == OutOfGroup
	if !w.takesAny && (!waits || !Newer(m.Fence(), p.record.Fence)) || m.Workers[m.Rank].Incarnation != p.incarnation(w) {
		return
	}
	if Newer(p.record.Fence, m.Fence()) {
		w.fail("process %d falls from generation %+v to %+v", p.id, p.record.Fence, m.Fence())
	}
	if p.inGroup && w.readyFirst {
		w.fail("process %d is in two groups", p.id)
	}
	p.record, p.doing, p.leaving = f.Record, InGroup, false
	p.record.Step = p.step
	p.group, p.inGroup, p.blames, p.members = m.Fence(), true, nil, nil
	for _, o := range m.Workers {
		p.members = append(p.members, o.Incarnation)
	}
	p.rank = m.Rank
	w.note("process %d of rank %d takes generation %d of %d: %v", p.id, p.rank, m.Generation, m.Issuer, slices.Clone(p.members))
}
