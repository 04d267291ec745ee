package rendezvous

import (
	"fmt"
	"net"
	"time"

	"ringtrain/ring/phrase"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous/state"
	"ringtrain/ring/token"
)

// Times of a strangerWatch.
const (
	strangersFirst = 2 * time.Second // from the first connection that proved nothing to the first line
	strangersEvery = 1 * time.Minute // between two lines

	maxWrongTokens = 16 // addresses that the state hears of, the newest ones
)

// strangerWatch makes the lines about the connections to a port that proved nothing.
type strangerWatch struct {
	seen func() port.Strangers // nil: there is no port to watch
	addr string                // of the port
	told uint64                // connections that the last line has counted
	tell time.Time             // when the next line is due
}

// next returns what the port has seen, and the line that is due, "" if none is.
func (w *strangerWatch) next(now time.Time) (s port.Strangers, line string) {
	if w.seen == nil {
		return s, ""
	}
	s = w.seen()
	if s.Closed > w.told && w.tell.IsZero() {
		w.tell = now.Add(strangersFirst)
	}
	if s.Closed == w.told || now.Before(w.tell) {
		return s, ""
	}
	w.told, w.tell = s.Closed, now.Add(strangersEvery)
	_, number, _ := net.SplitHostPort(w.addr)
	most := "most from"
	if s.Closed == 1 {
		most = "from"
	}
	return s, fmt.Sprintf("port %s: closed %s that proved nothing, %s %v", number, phrase.Count(int(s.Closed), "connection"), most, s.Most)
}

// noteStrangers passes what the port of the rendezvous has seen to the state.
func (s *Server) noteStrangers() {
	seen, line := s.strangers.next(time.Now())
	var wrong []state.WrongToken
	for _, k := range seen.Known {
		if k.Other != (token.ID{}) && len(wrong) < maxWrongTokens {
			wrong = append(wrong, state.WrongToken{From: k.From.String(), ID: k.Other.String(), Times: k.Times, Last: k.Last.Sub(s.started)})
		}
	}
	if wrong != nil {
		s.step(state.WrongTokens{List: wrong})
	}
	if line != "" {
		s.step(state.StrangersCame{Text: line})
	}
}
