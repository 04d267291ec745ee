package ring

import (
	"errors"
	"fmt"
	"strings"

	"ringtrain/ring/exitcode"
)

// Cause is the first cause of a job's end: what went wrong first, and where.
// The rendezvous keeps the first one and tells it to all ranks, so that every
// rank prints the cause and not a symptom.
type Cause struct {
	Rank      int    // the rank at fault; -1 if none is
	Host      string // its host, or ""
	Step      int64  // last completed step, -1 before training
	Operation string // what was going on: "join", "all-reduce", "checkpoint", …
	Peer      string // the other side of an exchange, or ""
	Text      string // one line: what is wrong and what is wanted
	ExitCode  int
}

// Error is one line that names rank, host and step as far as they are known
// and the text does not name the rank itself.
func (c *Cause) Error() string {
	named := strings.Contains(c.Text+" ", fmt.Sprintf("rank %d ", c.Rank))
	var where []string
	if c.Rank >= 0 && !named {
		where = append(where, fmt.Sprintf("rank %d", c.Rank))
	}
	if c.Host != "" && !named {
		where = append(where, "on "+c.Host)
	}
	if c.Step >= 0 {
		where = append(where, fmt.Sprintf("at step %d", c.Step))
	}
	if len(where) == 0 {
		return c.Text
	}
	return strings.Join(where, " ") + ": " + c.Text
}

// CauseOf makes a Cause of err. A Cause inside err is kept as it is.
func CauseOf(err error, rank int, host string, step int64) *Cause {
	if c, ok := errors.AsType[*Cause](err); ok {
		return c
	}
	c := &Cause{Rank: rank, Host: host, Step: step, Text: err.Error(), ExitCode: exitcode.Of(err)}
	if pe, ok := errors.AsType[*PeerError](err); ok {
		c.Rank, c.Host = pe.Rank, pe.Host // the neighbour that is gone, not the one that noticed
		c.Operation, c.Peer = pe.Op, pe.Addr
	}
	return c
}
