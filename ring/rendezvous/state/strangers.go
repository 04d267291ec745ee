package state

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ringtrain/ring/phrase"
)

// WrongToken is an address from which processes with another token have come. Nothing else is known
// of them: no rank is named by what they say.
type WrongToken struct {
	From  string
	ID    string // of the other token
	Times uint64
	Last  time.Duration // when the last one came
}

// strangersCame takes in how many connections to a port have proved nothing.
func (s *State) strangersCame(e StrangersCame) {
	m := s.byStream[e.Stream]
	switch {
	case e.Stream == 0:
		s.strangers = e.Text
	case m == nil:
		return
	default:
		e.Text = fmt.Sprintf("%s (%s): %s", m.Request.label(), m.Worker.Host, e.Text)
		m.strangers = e.Text
	}
	s.notify(e.Text, nil)
}

// strangerTexts returns the newest text of each port to which strangers have come.
func (s *knownState) strangerTexts() []string {
	texts := []string{s.strangers}
	for _, m := range s.members {
		texts = append(texts, m.strangers)
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// withStrangers returns the reason why a rank is missing, "" for one of which nothing is known. A
// process with another token that has come since the wait began may be the rank.
func (s *knownState) withStrangers(reason string) string {
	var came []WrongToken
	for _, w := range s.wrongTokens {
		if s.phase != phaseRegrouping || w.Last >= s.wait.since {
			came = append(came, w)
		}
	}
	switch {
	case len(came) == 0:
		return cmp.Or(reason, "no word yet")
	case reason != "" && s.phase != phaseRegrouping:
		return reason
	}
	times := "once"
	if n := came[0].Times; n > 1 {
		times = fmt.Sprintf("%d times", n)
	}
	text := fmt.Sprintf("%s; %s came %s with another token (%s)", cmp.Or(reason, "not heard of"), came[0].From, times, came[0].ID)
	if more := len(came) - 1; more > 0 {
		text += ", and so did " + phrase.Count(more, "other")
	}
	return text
}
