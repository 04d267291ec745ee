package state

import (
	"cmp"
	"math"
	"time"

	"ringtrain/ring"
)

// One slow worker makes all others wait, each for another one. Who is to blame is
// found by following the waits of all workers, as their last heartbeats have them,
// up to the root: a worker that works, or is silent, or, where the waits go round
// in a circle, the link over which the earliest of its workers waits. Heartbeats
// are of different moments: where they do not fit together nothing is said, for the
// next ones will.

// The times by which a picture is judged.
const (
	staleAfter           = 1500 * time.Millisecond // a heartbeat says nothing any more of a worker that could have moved
	suspectAfter         = 3 * time.Second         // who was not heard of for so long is silent
	settledTime          = 1 * time.Second         // who has moved later may have moved on since
	stallNoticeAfter     = 2 * time.Second         // a wait for so long is worth a word
	longPhaseNoticeAfter = 10 * time.Second        // likewise for a worker in a phase that takes long
	deadLinkAfter        = 10 * time.Second        // a link that has moved nothing for so long never will
)

// A stand is where a rank stands.
type rankState struct {
	step      int64
	phase     string
	wait      ring.Wait     // without Since; Peer is another rank, or -1
	unchanged time.Duration // for so long nothing of this has changed
	silence   time.Duration // since the heartbeat that told
}

// waits tells whether the rank waits for another one.
func (s *rankState) isWaiting() bool { return s.wait.Operation != "" && s.wait.Peer >= 0 }

// busy tells whether the phase is one that may take long without a fault.
func (s *rankState) inLongPhase() bool {
	switch s.phase {
	case "", "restore", "evaluate", "checkpoint", "export", "end":
		return !s.isWaiting()
	}
	return false
}

// before compares how far two ranks are.
func (s *rankState) behind(o *rankState) bool {
	return cmp.Or(cmp.Compare(s.step, o.step), cmp.Compare(s.wait.Seq, o.wait.Seq), cmp.Compare(s.wait.Moved, o.wait.Moved)) < 0
}

// A finding is the root of a stall.
type stall struct {
	kind       stallKind
	rank       int           // the root; of a link the end that waits
	peer       int           // of a link the other end, of a difference the other rank
	waiting    int           // ranks that wait for it, directly or not
	longest    time.Duration // that one of them has waited
	unchanged  time.Duration // for so long nothing has moved at the root
	allWaiting bool          // of a link: nobody works meanwhile, and all are alive
}

type stallKind uint8

const (
	stallWorking  stallKind = iota + 1 // the rank computes, or does what its phase says
	stallSilent                        // the rank was not heard of
	stallDeadLink                      // nothing comes from peer to rank, which both are alive
	stallMismatch                      // rank and peer do different operations at one number
)

// due tells whether people should know.
func (f *stall) worthNotice(all []rankState) bool {
	if f.kind == stallWorking && all[f.rank].inLongPhase() {
		return f.longest >= longPhaseNoticeAfter
	}
	return f.longest >= stallNoticeAfter
}

// blame returns the root of the stall that most ranks of all, the stands by rank,
// wait in; of equals that of the rank that is behind. ok is false when nothing
// stands still, or nothing is known yet.
func findStall(all []rankState) (f stall, ok bool) {
	if f, ok = findMismatch(all); ok {
		return f, true
	}
	p := waitGraph{ranks: all}
	at := map[int]*stall{}
	for rank := range all {
		s := &all[rank]
		if !s.isWaiting() || s.unchanged < stallNoticeAfter || s.silence >= suspectAfter {
			continue
		}
		root := p.root(rank)
		if root < 0 {
			continue
		}
		if at[root] == nil {
			at[root] = &stall{rank: root}
		}
		at[root].waiting++
		at[root].longest = max(at[root].longest, s.unchanged)
	}
	best := -1
	for root := range all { // in order: a map's would not repeat
		g := at[root]
		if g != nil && (best < 0 || g.waiting > at[best].waiting || g.waiting == at[best].waiting && all[root].behind(&all[best])) {
			best = root
		}
	}
	if best < 0 {
		return stall{}, false
	}
	return p.classify(*at[best]), true
}

// difference finds two ranks that have waited in different operations of the same
// number: neither will ever go on.
func findMismatch(all []rankState) (stall, bool) {
	first := map[uint64]int{}
	for rank := range all {
		s := &all[rank]
		if !s.isWaiting() || s.unchanged < settledTime {
			continue
		}
		other, ok := first[s.wait.Seq]
		if !ok {
			first[s.wait.Seq] = rank
			continue
		}
		if o := all[other].wait; o.Operation != s.wait.Operation || o.Elements != s.wait.Elements {
			return stall{kind: stallMismatch, rank: other, peer: rank}, true
		}
	}
	return stall{}, false
}

// A picture is the stands, and the roots found so far.
type waitGraph struct {
	ranks []rankState
	roots []int // by rank
}

const (
	unseen  = 0 // the root was not looked for
	onPath  = 1 // it is looked for right now
	unknown = 2 // heartbeats do not fit together
	found   = 3 // and the rank
)

// root returns the rank at the end of the waits of rank, -1 if it is not known. Of a
// circle it is the rank that is behind the others.
func (p *waitGraph) root(rank int) int {
	if p.roots == nil {
		p.roots = make([]int, len(p.ranks))
	}
	var path []int
	at := rank
	for p.roots[at] == unseen {
		if r := p.terminal(at); r != unseen {
			p.roots[at] = r
			break
		}
		p.roots[at] = onPath
		path = append(path, at)
		at = p.ranks[at].wait.Peer
	}
	root := p.roots[at]
	if root == onPath {
		root = found + p.mostBehind(at)
	}
	for _, r := range path {
		p.roots[r] = root
	}
	return max(root-found, -1)
}

// end returns the root of a rank that is one itself, or of which too little is
// known; unseen if it waits for another.
func (p *waitGraph) terminal(rank int) int {
	s := &p.ranks[rank]
	switch {
	case s.silence >= suspectAfter:
		return found + rank
	case s.silence >= staleAfter, s.unchanged < settledTime:
		return unknown
	case !s.isWaiting():
		return found + rank
	}
	return unseen
}

// behind returns the rank of a circle that is behind all others of it.
func (p *waitGraph) mostBehind(start int) int {
	least := start
	for at := p.ranks[start].wait.Peer; at != start; at = p.ranks[at].wait.Peer {
		if p.ranks[at].behind(&p.ranks[least]) {
			least = at
		}
	}
	return least
}

// classify completes a finding.
func (p *waitGraph) classify(f stall) stall {
	s := &p.ranks[f.rank]
	f.unchanged = s.unchanged
	switch {
	case s.silence >= suspectAfter:
		f.kind = stallSilent
	case !s.isWaiting():
		f.kind = stallWorking
	default:
		f.kind, f.peer = stallDeadLink, s.wait.Peer
		if f.allWaiting, f.unchanged = p.allWaiting(); !f.allWaiting {
			f.unchanged = s.unchanged
		}
	}
	return f
}

// standstill tells whether all wait and live, and for how long nobody has moved.
func (p *waitGraph) allWaiting() (all bool, still time.Duration) {
	all, still = true, math.MaxInt64
	for rank := range p.ranks {
		s := &p.ranks[rank]
		still = min(still, s.unchanged)
		all = all && s.isWaiting() && s.silence < staleAfter
	}
	return all, still
}
