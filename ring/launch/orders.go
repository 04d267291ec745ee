package launch

import (
	"errors"
	"syscall"
	"time"

	"ringtrain/ring/exitcode"
)

// orders are what an agent must know before it starts ranks. They come on its
// standard input: what is secret in them shows in no list of processes.
type orders struct {
	Protocol   int           `json:"protocol"`
	Version    string        `json:"version"`
	Rendezvous []string      `json:"rendezvous"` // host:port; the agent takes the first that it reaches
	Behind     bool          `json:"behind"`     // the address that this login came from may be tried, too
	Env        []string      `json:"env"`        // on top of the login's
	Dir        string        `json:"dir"`        // working directory
	MustDir    bool          `json:"must_dir"`   // it was asked for: none other will do
	Bind       Binding       `json:"bind"`
	Grace      time.Duration `json:"grace"`
}

// hello is the agent's answer.
type hello struct {
	Protocol   int        `json:"protocol"`
	Version    string     `json:"version"`
	Rendezvous string     `json:"rendezvous"` // that it has reached
	Cores      []int      `json:"cores"`
	Notice     string     `json:"notice"` // for people
	Fault      *saidFault `json:"fault"`  // the agent ends
}

// order is what starts a rank.
type startOrder struct {
	Program []string `json:"program"`
	Self    bool     `json:"self"` // the program is the agent's own
	Env     []string `json:"env"`  // of this rank
	Local   int      `json:"local"`
	Of      int      `json:"of"`
}

// saidFault is an error on its way.
type saidFault struct {
	Code int    `json:"code"`
	Text string `json:"text"`
}

func sayFault(err error) *saidFault { return &saidFault{exitcode.Of(err), err.Error()} }

func (f *saidFault) error() error { return exitcode.With(f.Code, errors.New(f.Text)) }

// saidEnding is an ending on its way.
type saidEnding struct {
	PID    int `json:"pid"`
	Exit   int `json:"exit"`
	Signal int `json:"signal"`
}

func sayEnding(e ending) saidEnding { return saidEnding{e.pid, e.exit, int(e.signal)} }

func (s saidEnding) of(rank int, host string) ending {
	return ending{rank: rank, pid: s.PID, host: host, exit: s.Exit, signal: syscall.Signal(s.Signal)}
}
