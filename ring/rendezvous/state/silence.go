package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// A member that is silent for the lease is lost if the others are a quorum. Without a quorum the
// silence says nothing about the members: the host of the rendezvous may be cut off, or another
// rendezvous may have them. Silence alone never makes the last holder of the state gone.

// silenceNoticeEvery is the time between notices about the silence of one worker.
const silenceNoticeEvery = 10 * time.Second

// cutOff is the wait for members that are silent while the others are no quorum.
type cutOff struct {
	waits bool
	since time.Duration // awake time
}

// silentMembers returns the members of the generation without a word for the lease. A member that
// has done its work may be silent while the generation goes on.
func (s *regroupingState) silentMembers() []*member {
	var silent []*member
	for _, m := range s.members {
		if s.clock.awake-m.lastHeard >= s.lease.current && !m.fresh && (m.place != left || s.phase == phaseRegrouping) {
			silent = append(silent, m)
		}
	}
	return silent
}

// loseSilent loses the silent members, or waits for them.
func (s *regroupingState) loseSilent() {
	silent := s.silentMembers()
	switch {
	case len(silent) == 0:
		s.cutOff = cutOff{}
	case !s.hearsQuorum():
		s.waitCutOff(silent)
	case s.cutOff.waits: // they come again one after the other: the silence of all begins anew
		s.cutOff = cutOff{}
		s.allHeard()
	default:
		s.lose(s.silenceCause(silent), false, silent...)
	}
}

// heardPart of the lease is the time within which a member that is heard must have said something:
// the members of a network that goes dark fall silent at nearly the same time, but not at once.
const heardPart = 2. / 5

// hears reports whether the rendezvous hears a member that has the state.
func (s *endingState) hears(m *member) bool {
	return m != nil && m.place != away && !m.fresh && float64(s.clock.awake-m.lastHeard) < heardPart*float64(s.lease.current)
}

// hearsQuorum reports whether the members that are heard are a quorum. A unique rendezvous needs one
// that has the state.
func (s *regroupingState) hearsQuorum() bool {
	heard := func(id uint64) bool { return s.hears(s.memberOf(id)) }
	if s.config.Unique {
		return slices.ContainsFunc(s.members, func(m *member) bool { return heard(m.Worker.Incarnation) })
	}
	return s.known.quorum(heard)
}

// silenceCause returns the cause if members are lost by silence. If all members of a host are
// silent, the cause names the host.
func (s *regroupingState) silenceCause(silent []*member) *ring.Cause {
	m := silent[0]
	c := m.lossCause(fmt.Sprintf("silent for %v", s.lease.current))
	onHost := func(all []*member) (n int) {
		for _, o := range all {
			if o.Worker.HostID == m.Worker.HostID {
				n++
			}
		}
		return n
	}
	if n := onHost(silent); n > 1 && n == len(silent) && n == onHost(s.members) {
		c.Text = fmt.Sprintf("host %s and the %s did not hear each other for %v", m.Worker.Host, s.ownName(), s.lease.current)
	}
	return c
}

// ownName returns what messages call this rendezvous.
func (s *knownState) ownName() string {
	if s.config.Unique {
		return "launcher"
	}
	return "rendezvous"
}

// waitCutOff waits for silent members, for the start timeout at most.
func (s *endingState) waitCutOff(silent []*member) {
	text := fmt.Sprintf("hears no rank for %v: this host's network is cut off, or all ranks stand still", s.lease.current)
	if slices.ContainsFunc(s.members, s.hears) {
		var ranks []string
		for _, m := range silent {
			ranks = append(ranks, fmt.Sprint(m.Rank))
		}
		text = fmt.Sprintf("rank %s is silent, another rendezvous may have it", ranks[0])
		if len(ranks) > 1 {
			text = fmt.Sprintf("ranks %s are silent, another rendezvous may have them", strings.Join(ranks, ", "))
		}
	}
	if !s.cutOff.waits {
		s.cutOff = cutOff{true, s.clock.awake}
		more := ""
		if s.phase == phaseRunning {
			more = ", training may go on"
		}
		s.notify(fmt.Sprintf("%s; waits %d s%s", text, int64(s.config.StartTimeout.Seconds()), more), nil)
	}
	if s.clock.awake-s.cutOff.since >= s.config.StartTimeout {
		s.fail(&ring.Cause{Rank: -1, Step: s.known.Step, Operation: "rendezvous", ExitCode: exitcode.Retry, Text: fmt.Sprintf("%s; waited %d s", text, int64(s.config.StartTimeout.Seconds()))})
	}
}

// dropSilent drops silent workers that wait for their first generation.
func (s *State) dropSilent() {
	for _, m := range slices.Clone(s.members) {
		if m.fresh && s.clock.awake-m.lastHeard >= s.lease.current {
			reason := fmt.Sprintf("silent for %v", s.lease.current)
			s.refuse(m.stream, &m.Request, exitcode.Retry, reason+" while others were awaited")
			s.remove(m, "was here, "+reason)
		}
	}
}

// notifySilence names silent members to people, long before a long lease ends.
func (s *State) notifySilence() {
	after := s.silenceNoticeAfter()
	for _, m := range s.members {
		silence := s.clock.awake - m.lastHeard
		if silence < after || silence >= s.lease.current || s.clock.awake < m.nextSilenceNotice || m.place == left {
			continue
		}
		m.nextSilenceNotice = s.clock.awake + silenceNoticeEvery
		s.notify(m.silenceText(silence, s.lease.current), m)
	}
}

// silenceNoticeAfter returns the silence after which people are notified.
func (s *regroupingState) silenceNoticeAfter() time.Duration {
	return max(suspectAfter, min(silenceNoticeEvery, s.lease.current/2))
}

// silenceText returns the notice about a silent member.
func (m *member) silenceText(silence, lease time.Duration) string {
	last := ""
	if m.phase != "" {
		last = fmt.Sprintf(", last heard at step %d in %s", m.step, m.phase)
	}
	return fmt.Sprintf("rank %d (%s %s) is silent for %d s%s; it counts as lost after %v",
		m.Rank, m.Worker.Host, m.Worker.Addr, int64(silence.Seconds()), last, lease)
}
