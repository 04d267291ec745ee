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
	staleAfter   = 1500 * time.Millisecond // a heartbeat says nothing any more of a worker that could have moved
	suspectAfter = 3 * time.Second         // who was not heard of for so long is silent
	settledAfter = 1 * time.Second         // who has moved later may have moved on since
	stallAfter   = 2 * time.Second         // a wait for so long is worth a word
	longStall    = 10 * time.Second        // likewise for a worker in a phase that takes long
	stuckAfter   = 10 * time.Second        // a link that has moved nothing for so long never will
)

// A stand is where a rank stands.
type stand struct {
	step   int64
	phase  string
	wait   ring.Wait     // without Since; Peer is another rank, or -1
	still  time.Duration // for so long nothing of this has changed
	silent time.Duration // since the heartbeat that told
}

// waits tells whether the rank waits for another one.
func (s *stand) waits() bool { return s.wait.Operation != "" && s.wait.Peer >= 0 }

// busy tells whether the phase is one that may take long without a fault.
func (s *stand) busy() bool {
	switch s.phase {
	case "", "restore", "evaluate", "checkpoint", "export", "end":
		return !s.waits()
	}
	return false
}

// before compares how far two ranks are.
func (s *stand) before(o *stand) bool {
	return cmp.Or(cmp.Compare(s.step, o.step), cmp.Compare(s.wait.Seq, o.wait.Seq), cmp.Compare(s.wait.Moved, o.wait.Moved)) < 0
}

// A finding is the root of a stall.
type finding struct {
	kind    fault
	rank    int           // the root; of a link the end that waits
	peer    int           // of a link the other end, of a difference the other rank
	waiting int           // ranks that wait for it, directly or not
	longest time.Duration // that one of them has waited
	still   time.Duration // for so long nothing has moved at the root
	alone   bool          // of a link: nobody works meanwhile, and all are alive
}

type fault uint8

const (
	working  fault = iota + 1 // the rank computes, or does what its phase says
	silence                   // the rank was not heard of
	deadLink                  // nothing comes from peer to rank, which both are alive
	differs                   // rank and peer do different operations at one number
)

// due tells whether people should know.
func (f *finding) due(all []stand) bool {
	if f.kind == working && all[f.rank].busy() {
		return f.longest >= longStall
	}
	return f.longest >= stallAfter
}

// blame returns the root of the stall that most ranks of all, the stands by rank,
// wait in; of equals that of the rank that is behind. ok is false when nothing
// stands still, or nothing is known yet.
func blame(all []stand) (f finding, ok bool) {
	if f, ok = difference(all); ok {
		return f, true
	}
	p := picture{all: all}
	at := map[int]*finding{}
	for rank := range all {
		s := &all[rank]
		if !s.waits() || s.still < stallAfter || s.silent >= suspectAfter {
			continue
		}
		root := p.root(rank)
		if root < 0 {
			continue
		}
		if at[root] == nil {
			at[root] = &finding{rank: root}
		}
		at[root].waiting++
		at[root].longest = max(at[root].longest, s.still)
	}
	best := -1
	for root := range all { // in order: a map's would not repeat
		g := at[root]
		if g != nil && (best < 0 || g.waiting > at[best].waiting || g.waiting == at[best].waiting && all[root].before(&all[best])) {
			best = root
		}
	}
	if best < 0 {
		return finding{}, false
	}
	return p.classify(*at[best]), true
}

// difference finds two ranks that have waited in different operations of the same
// number: neither will ever go on.
func difference(all []stand) (finding, bool) {
	first := map[uint64]int{}
	for rank := range all {
		s := &all[rank]
		if !s.waits() || s.still < settledAfter {
			continue
		}
		other, ok := first[s.wait.Seq]
		if !ok {
			first[s.wait.Seq] = rank
			continue
		}
		if o := all[other].wait; o.Operation != s.wait.Operation || o.Elements != s.wait.Elements {
			return finding{kind: differs, rank: other, peer: rank}, true
		}
	}
	return finding{}, false
}

// A picture is the stands, and the roots found so far.
type picture struct {
	all   []stand
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
func (p *picture) root(rank int) int {
	if p.roots == nil {
		p.roots = make([]int, len(p.all))
	}
	var path []int
	at := rank
	for p.roots[at] == unseen {
		if r := p.end(at); r != unseen {
			p.roots[at] = r
			break
		}
		p.roots[at] = onPath
		path = append(path, at)
		at = p.all[at].wait.Peer
	}
	root := p.roots[at]
	if root == onPath {
		root = found + p.behind(at)
	}
	for _, r := range path {
		p.roots[r] = root
	}
	return max(root-found, -1)
}

// end returns the root of a rank that is one itself, or of which too little is
// known; unseen if it waits for another.
func (p *picture) end(rank int) int {
	s := &p.all[rank]
	switch {
	case s.silent >= suspectAfter:
		return found + rank
	case s.silent >= staleAfter, s.still < settledAfter:
		return unknown
	case !s.waits():
		return found + rank
	}
	return unseen
}

// behind returns the rank of a circle that is behind all others of it.
func (p *picture) behind(start int) int {
	least := start
	for at := p.all[start].wait.Peer; at != start; at = p.all[at].wait.Peer {
		if p.all[at].before(&p.all[least]) {
			least = at
		}
	}
	return least
}

// classify completes a finding.
func (p *picture) classify(f finding) finding {
	s := &p.all[f.rank]
	f.still = s.still
	switch {
	case s.silent >= suspectAfter:
		f.kind = silence
	case !s.waits():
		f.kind = working
	default:
		f.kind, f.peer = deadLink, s.wait.Peer
		if f.alone, f.still = p.standstill(); !f.alone {
			f.still = s.still
		}
	}
	return f
}

// standstill tells whether all wait and live, and for how long nobody has moved.
func (p *picture) standstill() (all bool, still time.Duration) {
	all, still = true, math.MaxInt64
	for rank := range p.all {
		s := &p.all[rank]
		still = min(still, s.still)
		all = all && s.waits() && s.silent < staleAfter
	}
	return all, still
}
