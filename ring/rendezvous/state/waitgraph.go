package state

import (
	"cmp"
	"math"
	"time"

	"ringtrain/ring"
)

// One slow worker makes all others wait, each for another one. findStall follows the waits of all
// ranks, from their last heartbeats, up to the root. The root is a rank that works or is silent. If
// the waits form a circle, the root is the link over which the rank that is furthest behind waits.
// Heartbeats are of different times: if they contradict each other, findStall finds nothing, and
// the next heartbeats decide.

// The times by which a wait graph is judged.
const (
	staleAfter           = 1500 * time.Millisecond // an older heartbeat says nothing about a rank that could have moved
	suspectAfter         = 3 * time.Second         // a rank without a heartbeat for this time is silent
	settledTime          = 1 * time.Second         // a rank that moved less long ago may have moved on since
	stallNoticeAfter     = 2 * time.Second         // a wait of this length is worth a notice
	longPhaseNoticeAfter = 10 * time.Second        // the same for a rank in a long phase
	deadLinkAfter        = 10 * time.Second        // a link without any progress for this time is dead
)

// rankState is the state of one rank as of its last heartbeat.
type rankState struct {
	step      int64
	phase     string
	wait      ring.Wait     // without Since; Peer is another rank, or -1
	unchanged time.Duration // how long step, phase and wait have been unchanged
	silence   time.Duration // time since the heartbeat
	host      string        // its host id
}

// isWaiting reports whether the rank waits for another rank.
func (s *rankState) isWaiting() bool { return s.wait.Operation != "" && s.wait.Peer >= 0 }

// inLongPhase reports whether the rank is in a phase that may take long without a fault.
func (s *rankState) inLongPhase() bool {
	switch s.phase {
	case "", "restore", "evaluate", "checkpoint", "export", "end":
		return !s.isWaiting()
	}
	return false
}

// behind reports whether rank s is behind rank o.
func (s *rankState) behind(o *rankState) bool {
	return cmp.Or(cmp.Compare(s.step, o.step), cmp.Compare(s.wait.Seq, o.wait.Seq), cmp.Compare(s.wait.Moved, o.wait.Moved)) < 0
}

// stall describes the root of a stall.
type stall struct {
	kind       stallKind
	rank       int           // the root; of a dead link the rank that waits
	peer       int           // the other end of a dead link; the other rank of a mismatch
	waiting    int           // number of ranks that wait for the root, directly or not
	longest    time.Duration // longest of their waits
	unchanged  time.Duration // how long the root has been unchanged
	allWaiting bool          // of a dead link: all ranks wait, and none is silent
	oneHost    bool          // of a dead link: both ends are on one host, so that no network lies between them
}

type stallKind uint8

const (
	stallWorking  stallKind = iota + 1 // the rank computes, or does what its phase says
	stallSilent                        // the rank is silent
	stallDeadLink                      // nothing comes from peer to rank, and both are alive
	stallMismatch                      // rank and peer are in different operations with one number
)

// worthNotice reports whether people should hear of the stall.
func (st *stall) worthNotice(all []rankState) bool {
	if st.kind == stallWorking && all[st.rank].inLongPhase() {
		return st.longest >= longPhaseNoticeAfter
	}
	return st.longest >= stallNoticeAfter
}

// findStall returns the root for which most ranks wait. Of several it returns the one that is
// furthest behind. ok is false if there is no stall, or if the root is not known yet.
func findStall(all []rankState) (st stall, ok bool) {
	if st, ok = findMismatch(all); ok {
		return st, true
	}
	g := waitGraph{ranks: all}
	stalls := map[int]*stall{}
	for rank := range all {
		s := &all[rank]
		if !s.isWaiting() || s.unchanged < stallNoticeAfter || s.silence >= suspectAfter {
			continue
		}
		root := g.root(rank)
		if root < 0 {
			continue
		}
		if stalls[root] == nil {
			stalls[root] = &stall{rank: root}
		}
		stalls[root].waiting++
		stalls[root].longest = max(stalls[root].longest, s.unchanged)
	}
	best := -1
	for root := range all { // in order of rank: the order of a map would not repeat
		candidate := stalls[root]
		if candidate != nil && (best < 0 || candidate.waiting > stalls[best].waiting || candidate.waiting == stalls[best].waiting && all[root].behind(&all[best])) {
			best = root
		}
	}
	if best < 0 {
		return stall{}, false
	}
	return g.classify(*stalls[best]), true
}

// findMismatch finds two ranks that have waited in different operations with one number. Neither of
// them can go on.
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

// waitGraph holds the rank states and the roots found so far.
type waitGraph struct {
	ranks []rankState
	roots []int // by rank
}

const (
	unseen  = 0 // not searched yet
	onPath  = 1 // on the path that is followed now
	unknown = 2 // the heartbeats contradict each other
	found   = 3 // plus the rank
)

// root returns the rank at the end of the waits of rank, -1 if it is not known. Of a circle it
// returns the rank that is furthest behind.
func (g *waitGraph) root(rank int) int {
	if g.roots == nil {
		g.roots = make([]int, len(g.ranks))
	}
	var path []int
	at := rank
	for g.roots[at] == unseen {
		if r := g.terminal(at); r != unseen {
			g.roots[at] = r
			break
		}
		g.roots[at] = onPath
		path = append(path, at)
		at = g.ranks[at].wait.Peer
	}
	root := g.roots[at]
	if root == onPath {
		root = found + g.mostBehind(at)
	}
	for _, r := range path {
		g.roots[r] = root
	}
	return max(root-found, -1)
}

// terminal returns the root of a rank that does not wait for another, unknown if too little is
// known, and unseen if the rank waits.
func (g *waitGraph) terminal(rank int) int {
	s := &g.ranks[rank]
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

// mostBehind returns the rank of a circle that is furthest behind.
func (g *waitGraph) mostBehind(start int) int {
	least := start
	for at := g.ranks[start].wait.Peer; at != start; at = g.ranks[at].wait.Peer {
		if g.ranks[at].behind(&g.ranks[least]) {
			least = at
		}
	}
	return least
}

// classify sets the kind of a stall and what depends on it.
func (g *waitGraph) classify(st stall) stall {
	s := &g.ranks[st.rank]
	st.unchanged = s.unchanged
	switch {
	case s.silence >= suspectAfter:
		st.kind = stallSilent
	case !s.isWaiting():
		st.kind = stallWorking
	default:
		st.kind, st.peer = stallDeadLink, s.wait.Peer
		st.oneHost = s.host != "" && s.host == g.ranks[st.peer].host
		if st.allWaiting, st.unchanged = g.allWaiting(); !st.allWaiting {
			st.unchanged = s.unchanged
		}
	}
	return st
}

// allWaiting reports whether all ranks wait and none is silent, and for how long none has moved.
func (g *waitGraph) allWaiting() (all bool, unchanged time.Duration) {
	all, unchanged = true, math.MaxInt64
	for rank := range g.ranks {
		s := &g.ranks[rank]
		unchanged = min(unchanged, s.unchanged)
		all = all && s.isWaiting() && s.silence < staleAfter
	}
	return all, unchanged
}
