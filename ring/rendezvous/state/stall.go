package state

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Times between two notices about a stall.
const (
	stallNoticeEvery     = 5 * time.Second
	longPhaseNoticeEvery = 10 * time.Second // while the root of the stall is in a long phase
)

// Bounds of the parts of a notice about a stall, in bytes. The whole notice is below 500 bytes.
const (
	maxStallName  = 120
	maxStallPhase = 40
)

// stallWatch is what is known of a stall.
type stallWatch struct {
	states     []rankState   // reused by updateRankStates
	text       string        // description of the current stall; "": no stall
	nextNotice time.Duration // awake time of the next notice about a stall
}

// checkStall searches the wait graph for a stall. It notifies people of a stall and ends a
// generation or a job that cannot go on.
func (s *regroupingState) checkStall() {
	s.stall.text = ""
	all := s.updateRankStates()
	st, ok := findStall(all)
	switch {
	case !ok:
	case st.kind == stallMismatch:
		s.fail(s.mismatchCause(all, st))
	case st.kind == stallDeadLink && st.allWaiting && st.unchanged >= deadLinkAfter:
		c := s.deadLinkCause(st)
		s.run.link = []int{min(st.peer, st.rank), max(st.peer, st.rank)}
		s.noteFreeEnd(c)
		s.lose(c, false)
	case st.worthNotice(all):
		s.stall.text = s.formatStall(all, st)
		s.notifyStall(all, st)
	}
}

// updateRankStates returns the states of all ranks. A lost rank counts as silent for the lease.
func (s *regroupingState) updateRankStates() []rankState {
	s.stall.states = s.stall.states[:0]
	for range s.worldSize {
		s.stall.states = append(s.stall.states, rankState{step: -1, wait: ring.Wait{Peer: -1}, silence: s.lease.current})
	}
	for _, m := range s.members {
		r := rankState{m.step, m.phase, m.wait, s.clock.awake - m.unchangedSince, s.clock.awake - m.lastHeard, m.Worker.HostID}
		if r.wait.Peer >= s.worldSize || r.wait.Peer == m.Rank {
			r.wait.Peer = -1
		}
		s.stall.states[m.Rank] = r
	}
	return s.stall.states
}

// notifyStall notifies people of a stall, not too often.
func (s *regroupingState) notifyStall(all []rankState, st stall) {
	if s.clock.awake < s.stall.nextNotice {
		return
	}
	s.stall.nextNotice = s.clock.awake + stallNoticeEvery
	if st.kind == stallWorking && all[st.rank].inLongPhase() {
		s.stall.nextNotice = s.clock.awake + longPhaseNoticeEvery
	}
	root := s.member(st.rank)
	if st.kind == stallSilent && root != nil {
		root.nextSilenceNotice = s.clock.awake + silenceNoticeEvery // the notice about the stall names the silent rank
	}
	s.notify(s.stall.text, root)
}

// NoticeSink says who receives notices about what goes slowly. Two receivers that write to one
// screen would show each notice twice.
type NoticeSink uint8

// The values of NoticeSink.
const (
	// NoticeOwnerAndRank0 is for an owner whose screen or log is not that of rank 0.
	NoticeOwnerAndRank0 NoticeSink = iota
	// NoticeOwner is for an owner that also shows the output of rank 0.
	NoticeOwner
	// NoticeRank0 is for an owner that is a worker: people look at rank 0. The owner receives only
	// notices that rank 0 cannot receive, or that are about a silent rank 0.
	NoticeRank0
)

// notify sends a notice to its receivers. Rank 0 does not receive a notice about its own silence.
func (s *knownState) notify(text string, about *member) {
	rank0 := s.noticeMember()
	reached := rank0 != nil && rank0.stream != 0 && (rank0 != about || s.clock.awake-rank0.lastHeard < suspectAfter)
	if s.config.NoticeSink != NoticeRank0 || !reached || s.clock.awake-rank0.lastHeard >= suspectAfter {
		s.emit(Notify{text})
	}
	if s.config.NoticeSink != NoticeOwner && reached {
		s.emit(SendNotice{rank0.stream, text})
	}
}

// formatStall returns one line with fixed keys in a fixed order:
//
//	19 of 20 ranks wait for rank 7: host=h7 addr=10.0.0.7:4402 phase=train step=41 for=4s beat=0.3s next=…
func (s *regroupingState) formatStall(all []rankState, st stall) string {
	root := &all[st.rank]
	waitedFor, what, next := fmt.Sprintf("rank %d", st.rank), root.phase, "continues with this rank; no rank is lost while its heartbeats arrive"
	switch {
	case st.kind == stallSilent:
		next = fmt.Sprintf("counts as lost in %s without a heartbeat", wholeSeconds(s.lease.current-root.silence))
	case st.kind == stallDeadLink && st.oneHost:
		next = "the generation ends when all have waited " + wholeSeconds(deadLinkAfter)
	case st.kind == stallDeadLink:
		waitedFor = fmt.Sprintf("link %d -> %d with both ends alive", st.peer, st.rank)
		next = "the generation ends when all have waited " + wholeSeconds(deadLinkAfter)
	case root.wait.Operation != "":
		what += "/" + root.wait.Operation
	}
	host, addr := s.hostAndAddr(st.rank)
	step := "-"
	if root.step >= 0 {
		step = strconv.FormatInt(root.step, 10)
	}
	return fmt.Sprintf("%d of %d ranks wait for %s: host=%s addr=%s phase=%s step=%s for=%s beat=%s next=%s",
		st.waiting, s.worldSize, waitedFor, phrase.Clip(host, maxStallName), phrase.Clip(addr, maxStallName), phrase.Clip(cmp.Or(what, "-"), maxStallPhase), step,
		wholeSeconds(st.unchanged), root.silence.Round(100*time.Millisecond), next)
}

func (s *knownState) hostAndAddr(rank int) (host, addr string) {
	if m := s.member(rank); m != nil {
		host, addr = m.Worker.Host, m.Worker.Addr
	}
	return cmp.Or(host, "-"), cmp.Or(addr, "-")
}

func wholeSeconds(d time.Duration) string {
	return fmt.Sprintf("%ds", int64(max(d, 0).Round(time.Second).Seconds()))
}

// deadLinkCause returns the cause of the end of a generation in which nothing moves over a link. On
// one host that is the rank which is furthest behind.
func (s *regroupingState) deadLinkCause(st stall) *ring.Cause {
	m, to := s.member(st.peer), s.member(st.rank)
	if st.oneHost {
		return &ring.Cause{
			Rank: st.rank, Host: to.Worker.Host, Step: to.step, Operation: to.wait.Operation, ExitCode: exitcode.Retry,
			Text: fmt.Sprintf("%s is furthest behind: nothing moved for %d s, all ranks are alive", s.rankLabel(st.rank), int64(st.unchanged.Seconds())),
		}
	}
	return &ring.Cause{
		Rank: st.peer, Host: m.Worker.Host, Step: m.step, Operation: to.wait.Operation, Peer: to.Worker.Addr, ExitCode: exitcode.Retry,
		Text: fmt.Sprintf("link %d -> %d at %s: nothing moved for %d s, both ends are alive", st.peer, st.rank, to.Worker.Addr, int64(st.unchanged.Seconds())),
	}
}

// mismatchCause returns the cause of the end of a job in which two ranks are in different
// operations.
func (s *endingState) mismatchCause(all []rankState, st stall) *ring.Cause {
	a, b := all[st.rank].wait, all[st.peer].wait
	return &ring.Cause{
		Rank: -1, Step: all[st.rank].step, Operation: a.Operation, ExitCode: exitcode.Usage,
		Text: fmt.Sprintf("ranks differ at operation %d: %s on %s, %s on %s, want the same on all ranks",
			a.Seq, s.formatOperation(a), s.rankLabel(st.rank), s.formatOperation(b), s.rankLabel(st.peer)),
	}
}

func (s *endingState) formatOperation(w ring.Wait) string {
	if w.Elements == 0 {
		return w.Operation
	}
	return fmt.Sprintf("%s of %d elements", w.Operation, w.Elements)
}

func (s *knownState) rankLabel(rank int) string {
	host, addr := s.hostAndAddr(rank)
	return fmt.Sprintf("rank %d (%s %s)", rank, host, addr)
}
