package state

import (
	"fmt"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Bounds of the number of missing ranks in a text.
const (
	maxMissing     = 64   // in one report
	maxMissingText = 4096 // in the cause of the end, which is also cut by its length
)

// OpJoin is the operation of a worker that waits for the others.
const OpJoin = "join"

// Missing describes a rank that has not joined.
type Missing struct {
	Rank    int           // -1 if the missing ranks are not known, because the rendezvous assigns ranks
	Address string        // configured address, if known
	Reason  string        // why the rank is missing, as far as known
	For     time.Duration // since when the rank is missing
}

// Waiting describes the progress of the start.
type Waiting struct {
	Present   int // 0 while the rendezvous, the only entry of Missing, is not reached
	WorldSize int
	Missing   []Missing // in order of rank; at most 64
	Remaining time.Duration
}

// String returns one line, such as "18 of 20 present; missing 12 (h:1: connection refused), 17
// (h:2: no word yet); 280 s left".
func (w Waiting) String() string {
	left := fmt.Sprintf("%d s left", int64(w.Remaining.Round(time.Second)/time.Second))
	if w.Present == 0 && len(w.Missing) == 1 {
		m := w.Missing[0]
		if m.Rank < 0 {
			return fmt.Sprintf("rendezvous not reached%s; %s", m.detail(), left)
		}
		return fmt.Sprintf("rank %d not reached%s; %s", m.Rank, m.detail(), left)
	}
	line := fmt.Sprintf("%d of %d present; ", w.Present, w.WorldSize)
	if names := formatMissing(w.Missing, w.WorldSize-w.Present); names != "" {
		line += "missing " + names + "; "
	}
	return line + left
}

// missing returns the ranks that are missing or awaited, at most n.
func (s *knownState) missing(n int) []Missing {
	var list []Missing
	if s.hasUnranked() {
		for range min(s.worldSize-len(s.members), n) {
			list = append(list, Missing{Rank: -1, Reason: s.strangers.explain("", &s.wait, false), For: s.clock.now - s.wait.since})
		}
		return list
	}
	for rank := 0; rank < s.worldSize && len(list) < n; rank++ {
		a, ok := s.wait.absences[rank]
		m := s.member(rank)
		switch {
		case m != nil && s.awaitedReason(m) == "":
			continue
		case m != nil:
			a = absence{s.wait.since, s.awaitedReason(m)}
		default:
			if !ok {
				a.since = s.wait.since
			}
			a.reason = s.strangers.explain(a.reason, &s.wait, s.phase == phaseRegrouping)
		}
		missing := Missing{Rank: rank, Reason: a.reason, For: s.clock.now - a.since}
		switch {
		case m != nil:
			missing.Address = m.Worker.Addr
		case rank < len(s.config.Addrs):
			missing.Address = s.config.Addrs[rank]
		}
		list = append(list, missing)
	}
	return list
}

// hasUnranked reports whether a member waits for a rank. Then the missing ranks are not known.
func (s *knownState) hasUnranked() bool {
	for _, m := range s.members {
		if m.Rank < 0 {
			return true
		}
	}
	return false
}

// startTimeoutCause returns the cause of a start that took too long.
func (s *endingState) startTimeoutCause(after time.Duration) *ring.Cause {
	return MissingCause(s.missing(maxMissingText), len(s.members), s.worldSize, after)
}

// gaveUpWaiting takes in that member m does not wait for the others any longer. No generation can
// start without m, so the job ends. The cause names the ranks that were missing, not m. m knows
// them as of the last report.
func (s *endingState) gaveUpWaiting(m *member) {
	if s.phase == phaseRegrouping {
		s.fail(s.notReturnedCause((s.clock.now - s.wait.since).Round(time.Second)))
	} else {
		s.fail(s.startTimeoutCause((s.clock.now - m.joined).Round(time.Second)))
	}
}

// MissingCause returns the cause of a start that took too long. present of size workers had joined,
// and list has the first missing ranks.
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

// formatMissing returns text such as "12 (h:1: connection refused), 14-19 (no word yet) and 3 more"
// for n missing ranks. list has the first of them. Neighbouring ranks with equal details form a
// range. The text is "" if the ranks are not known.
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

// detail returns what is known of a missing rank, in parentheses.
func (m Missing) detail() string {
	switch {
	case m.Address == "" && m.Reason == "":
		return ""
	case m.Address == "" || m.Reason == "":
		return " (" + m.Address + m.Reason + ")"
	}
	return " (" + m.Address + ": " + m.Reason + ")"
}
