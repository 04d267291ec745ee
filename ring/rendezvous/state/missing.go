package state

import (
	"fmt"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Bounds of the ranks that are named.
const (
	maxMissing     = 64   // by one report
	maxMissingText = 4096 // by the cause of the end, which is cut by its length
)

const unknownReason = "no word yet"

// OpJoin is the operation of whoever waits for the others.
const OpJoin = "join"

// Missing is a rank that has not joined.
type Missing struct {
	Rank    int           // -1 when unknown: ranks are not given
	Address string        // where it should be, if known
	Reason  string        // why it is not here, as far as known
	For     time.Duration // since when
}

// Waiting tells how the start goes on.
type Waiting struct {
	Present   int // 0 while the rendezvous itself, named in Missing, is not reached
	WorldSize int
	Missing   []Missing // in order of rank; the first 64 if they are more
	Remaining time.Duration
}

// String is one line, such as "18 of 20 present; missing 12 (h:1: connection
// refused), 17 (h:2: no word yet); 280 s left".
func (w Waiting) String() string {
	left := fmt.Sprintf("%d s left", int64(w.Remaining.Round(time.Second)/time.Second))
	if w.Present == 0 && len(w.Missing) == 1 {
		m := w.Missing[0]
		if m.Rank < 0 {
			return fmt.Sprintf("waiting for the rendezvous%s; %s", m.detail(), left)
		}
		return fmt.Sprintf("waiting for rank %d%s; %s", m.Rank, m.detail(), left)
	}
	line := fmt.Sprintf("%d of %d present; ", w.Present, w.WorldSize)
	if names := formatMissing(w.Missing, w.WorldSize-w.Present); names != "" {
		line += "missing " + names + "; "
	}
	return line + left
}

// missing lists the ranks that are not here, at most n.
func (s *State) missing(n int) []Missing {
	var list []Missing
	if s.hasUnranked() {
		for range min(s.worldSize-len(s.members), n) {
			list = append(list, Missing{Rank: -1, Reason: unknownReason, For: s.now - s.waitSince})
		}
		return list
	}
	taken := make(map[int]bool, len(s.members))
	for _, m := range s.members {
		taken[m.Rank] = true
	}
	for rank := 0; rank < s.worldSize && len(list) < n; rank++ {
		if taken[rank] {
			continue
		}
		a, ok := s.absences[rank]
		if !ok {
			a = absence{s.waitSince, unknownReason}
		}
		m := Missing{Rank: rank, Reason: a.reason, For: s.now - a.since}
		if rank < len(s.config.Addrs) {
			m.Address = s.config.Addrs[rank]
		}
		list = append(list, m)
	}
	return list
}

// unnumbered tells whether somebody here waits to be given a rank; then nobody
// can say which ones are missing.
func (s *State) hasUnranked() bool {
	for _, m := range s.members {
		if m.Rank < 0 {
			return true
		}
	}
	return false
}

// absent is the cause of a start that took too long.
func (s *State) startTimeoutCause(after time.Duration) *ring.Cause {
	return MissingCause(s.missing(maxMissingText), len(s.members), s.worldSize, after)
}

// impatient takes in that m, which waits for the others, will not do so any longer.
// Nobody can start without it: the cause is who was missing, for all, and not that it
// is gone. What m knows of that is as old as the last report.
func (s *State) gaveUpWaiting(m *member) {
	switch {
	case len(s.members) == s.worldSize: // others are not ready
		s.lose(m.lossCause("gave up waiting for the others"), m)
	case s.phase == phaseRecovering:
		s.fail(s.notReturnedCause((s.now - s.waitSince).Round(time.Second)))
	default:
		s.fail(s.startTimeoutCause((s.now - m.joined).Round(time.Second)))
	}
}

// MissingCause is the cause of a start that took too long, with present workers
// of size; list has the first of the missing ones.
func MissingCause(list []Missing, present, size int, after time.Duration) *ring.Cause {
	c := &ring.Cause{Rank: -1, Step: -1, Operation: OpJoin, ExitCode: exitcode.Retry}
	names := formatMissing(list, size-present)
	switch {
	case size-present == 1 && names != "":
		c.Rank, c.Peer = list[0].Rank, list[0].Address
		c.Text = MissingText(list[0], after, size)
	case names != "":
		c.Text = fmt.Sprintf("ranks %s missing after %v; want %d workers", names, after, size)
	default:
		c.Text = fmt.Sprintf("only %d workers here after %v; want %d", present, after, size)
	}
	return c
}

func MissingText(m Missing, after time.Duration, size int) string {
	where := ""
	if m.Address != "" {
		where = " (" + m.Address + ")"
	}
	return fmt.Sprintf("rank %d%s missing after %v: %s; want %d workers", m.Rank, where, after, m.Reason, size)
}

// nameMissing writes "12 (h:1: connection refused), 14-19 (no word yet) and 3
// more" for n missing ranks of which list has the first; "" if nobody knows
// their ranks. Neighbours of which the same is known are one range.
func formatMissing(list []Missing, n int) string {
	if len(list) == 0 || list[0].Rank < 0 {
		return ""
	}
	var parts []string
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && list[j].Rank == list[j-1].Rank+1 && list[j].detail() == list[i].detail() {
			j++
		}
		ranks := fmt.Sprint(list[i].Rank)
		if j-i > 1 {
			ranks += fmt.Sprintf("-%d", list[j-1].Rank)
		}
		parts = append(parts, ranks+list[i].detail())
		i = j
	}
	line := strings.Join(parts, ", ")
	if more := n - len(list); more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}

// brackets is what is known of a missing rank, in brackets behind its number.
func (m Missing) detail() string {
	switch {
	case m.Address == "" && m.Reason == "":
		return ""
	case m.Address == "" || m.Reason == "":
		return " (" + m.Address + m.Reason + ")"
	}
	return " (" + m.Address + ": " + m.Reason + ")"
}
