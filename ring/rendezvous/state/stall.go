package state

import (
	"fmt"
	"strconv"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/sanitize"
)

// Between two words about a stall.
const (
	stallEvery     = 5 * time.Second
	longStallEvery = 10 * time.Second // while the root is in a phase that takes long
)

// Bounds of what a word about a stall is made of, in bytes; all of it stays below 500.
const (
	maxStallName  = 120
	maxStallPhase = 40
)

// examine looks at who waits for whom. It tells people of a stall, and ends what
// cannot go on.
func (s *State) examine() {
	s.stall = ""
	all := s.stands()
	f, ok := blame(all)
	switch {
	case !ok:
	case f.kind == differs:
		s.fail(s.difference(all, f))
	case f.kind == deadLink && f.alone && f.still >= stuckAfter:
		s.lose(s.dead(f))
	case f.due(all):
		s.stall = s.stallText(all, f)
		s.tellStall(all, f)
	}
}

// stands are those of all ranks. Of one that is gone nothing is heard any more.
func (s *State) stands() []stand {
	s.picture = s.picture[:0]
	for range s.size {
		s.picture = append(s.picture, stand{step: -1, wait: ring.Wait{Peer: -1}, silent: s.lease})
	}
	for _, m := range s.here {
		p := stand{m.step, m.doing, m.wait, s.awake - m.still, s.awake - m.heard}
		if p.wait.Peer >= s.size || p.wait.Peer == m.Rank {
			p.wait.Peer = -1
		}
		s.picture[m.Rank] = p
	}
	return s.picture
}

// tellStall tells people, from time to time.
func (s *State) tellStall(all []stand, f finding) {
	if s.awake < s.tell {
		return
	}
	s.tell = s.awake + stallEvery
	if f.kind == working && all[f.rank].busy() {
		s.tell = s.awake + longStallEvery
	}
	root := s.owner(f.rank)
	if f.kind == silence && root != nil {
		root.warn = s.awake + warnEvery // this says the same
	}
	s.warn(s.stall, root)
}

// Teller says who tells people of what goes slowly. Two who write to one screen say it
// twice.
type NoticeSink uint8

// The tellers.
const (
	// BothTell is for an owner whose screen, or log, is another than rank 0's.
	NoticeOwnerAndRank0 NoticeSink = iota
	// OwnerTells is for an owner that also shows what rank 0 prints.
	NoticeOwner
	// Rank0Tells is for an owner that is a worker: people look at rank 0. The owner
	// tells only what rank 0 cannot be told, or what is about a silent rank 0.
	NoticeRank0
)

// warn tells people: the owner of the Server, and those of rank 0, unless it is
// about that one.
func (s *State) warn(text string, about *member) {
	o := s.speaker()
	hears := o != nil && o.stream != 0 && (o != about || s.awake-o.heard < suspectAfter)
	if s.c.NoticeSink != NoticeRank0 || !hears || s.awake-o.heard >= suspectAfter {
		s.do(Warn{text})
	}
	if s.c.NoticeSink != NoticeOwner && hears {
		s.do(SendNotice{o.stream, text})
	}
}

// stallText is one line, whose keys are always the same ones in the same order:
//
//	19 of 20 ranks wait for rank 7: host=h7 addr=10.0.0.7:4402 phase=train step=41 for=4s beat=0.3s next=…
func (s *State) stallText(all []stand, f finding) string {
	root := &all[f.rank]
	who, what, next := fmt.Sprintf("rank %d", f.rank), root.phase, "goes on when it does; nobody is lost while it beats"
	switch {
	case f.kind == silence:
		next = fmt.Sprintf("counts as lost in %s unless it beats", wholeSeconds(s.lease-root.silent))
	case f.kind == deadLink:
		who = fmt.Sprintf("link %d -> %d, whose ends are alive", f.peer, f.rank)
		next = "the generation ends when all have waited " + wholeSeconds(stuckAfter)
	case root.wait.Operation != "":
		what += "/" + root.wait.Operation
	}
	host, addr := s.whereabouts(f.rank)
	step := "-"
	if root.step >= 0 {
		step = strconv.FormatInt(root.step, 10)
	}
	return fmt.Sprintf("%d of %d ranks wait for %s: host=%s addr=%s phase=%s step=%s for=%s beat=%s next=%s",
		f.waiting, s.size, who, sanitize.Clip(host, maxStallName), sanitize.Clip(addr, maxStallName), sanitize.Clip(orDash(what), maxStallPhase), step,
		wholeSeconds(f.still), root.silent.Round(100*time.Millisecond), next)
}

func (s *State) whereabouts(rank int) (host, addr string) {
	if m := s.owner(rank); m != nil {
		host, addr = m.Worker.Host, m.Worker.Addr
	}
	return orDash(host), orDash(addr)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func wholeSeconds(d time.Duration) string {
	return fmt.Sprintf("%ds", int64(max(d, 0).Round(time.Second).Seconds()))
}

// dead is the cause of the end of a generation in which nothing moves over a link.
func (s *State) dead(f finding) *ring.Cause {
	m, to := s.owner(f.peer), s.owner(f.rank)
	return &ring.Cause{
		Rank: f.peer, Host: m.Worker.Host, Step: m.step, Operation: to.wait.Operation, Peer: to.Worker.Addr, ExitCode: exitcode.Retry,
		Text: fmt.Sprintf("link %d -> %d at %s: nothing moved for %d s, both ends are alive", f.peer, f.rank, to.Worker.Addr, int64(f.still.Seconds())),
	}
}

// difference is the cause when two ranks do not do the same.
func (s *State) difference(all []stand, f finding) *ring.Cause {
	a, b := all[f.rank].wait, all[f.peer].wait
	return &ring.Cause{
		Rank: -1, Step: all[f.rank].step, Operation: a.Operation, ExitCode: exitcode.Usage,
		Text: fmt.Sprintf("ranks differ at operation %d: %s on %s, %s on %s, want the same on all ranks",
			a.Seq, s.operation(a), s.place(f.rank), s.operation(b), s.place(f.peer)),
	}
}

func (s *State) operation(w ring.Wait) string {
	if w.Elements == 0 {
		return w.Operation
	}
	return fmt.Sprintf("%s of %d elements", w.Operation, w.Elements)
}

func (s *State) place(rank int) string {
	host, addr := s.whereabouts(rank)
	return fmt.Sprintf("rank %d (%s %s)", rank, host, addr)
}
