package ring

import (
	"errors"
	"fmt"
	"strings"

	"ringtrain/ring/exitcode"
)

// Cause is the first cause of a job's end: what failed first, and where. The rendezvous keeps
// the first Cause and sends it to all ranks, so each rank prints the cause and not a symptom.
type Cause struct {
	Rank      int    // rank at fault; -1: none
	Host      string // host of that rank, or ""
	Step      int64  // last completed step, -1 before training
	Operation string // "join", "all-reduce", "checkpoint", …
	Peer      string // address of the neighbour in an exchange, or ""
	Text      string // one line: what is wrong, and what is wanted instead
	ExitCode  int
}

// OpKeys is the Operation of a Cause by which all ranks end their generation after one step, so that
// the links of the next one have new keys.
const OpKeys = "keys"

// Error returns one line with the rank, host and step as far as they are known. If the text
// already names the rank then Error leaves out rank and host.
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

// WithCode returns c as an error with its exit code.
func (c *Cause) WithCode() error { return exitcode.With(c.ExitCode, c) }

// GenerationEnded returns ErrGenerationEnded because of c, with the exit code of c.
func (c *Cause) GenerationEnded() error {
	return exitcode.With(c.ExitCode, fmt.Errorf("%w: %w", ErrGenerationEnded, c))
}

// CauseOf returns the Cause of err. It returns a Cause inside err unchanged. A PeerError blames
// the neighbour and not the rank that noticed the failure.
func CauseOf(err error, rank int, host string, step int64) *Cause {
	if c, ok := errors.AsType[*Cause](err); ok {
		return c
	}
	c := &Cause{Rank: rank, Host: host, Step: step, Text: err.Error(), ExitCode: exitcode.Of(err)}
	if pe, ok := errors.AsType[*PeerError](err); ok {
		c.Rank, c.Host = pe.Rank, pe.Host
		c.Operation, c.Peer = pe.Op, pe.Addr
	}
	return c
}
