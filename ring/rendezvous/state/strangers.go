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

// strangers is what is known of processes that have proved nothing.
type strangers struct {
	wrongTokens []WrongToken // the newest first
	told        string       // what has come to the port of the rendezvous, for people
}

// strangersCame takes in how many connections to a port have proved nothing.
func (s *State) strangersCame(e StrangersCame) {
	m := s.byStream[e.Stream]
	switch {
	case e.Stream == 0:
		s.strangers.told = e.Text
	case m == nil:
		return
	default:
		e.Text = fmt.Sprintf("%s (%s): %s", m.Request.label(), m.Worker.Host, e.Text)
		m.strangers = e.Text
	}
	s.notify(e.Text, nil)
}

// texts returns the newest text of each port to which strangers have come.
func (s *strangers) texts(members []*member) []string {
	texts := []string{s.told}
	for _, m := range members {
		texts = append(texts, m.strangers)
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// explain returns the reason why a rank is missing, "" for one of which nothing is known. A process with
// another token that has come since the wait began, or at any time before the first generation, may be the
// rank.
func (s *strangers) explain(reason string, w *wait, regrouping bool) string {
	var came []WrongToken
	for _, t := range s.wrongTokens {
		if !regrouping || t.Last >= w.since {
			came = append(came, t)
		}
	}
	switch {
	case len(came) == 0:
		return cmp.Or(reason, "no word yet")
	case reason != "" && !regrouping:
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
